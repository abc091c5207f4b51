#include "kernels/ops/embed.hpp"

#include "kernels/ops/backend.hpp"

namespace omni {

void embed(const embed_args& args, const op_context& context) {
  OMNI_CHECK(args.table != nullptr && args.out.columns() == args.table->columns, "embeddings are as wide as the table");
  OMNI_CHECK(args.out.rows() == args.ids.values(), "one row for each id");
  for (std::int64_t i = 0; i < args.ids.values(); ++i)
    OMNI_CHECK(args.ids.i32()[i] >= 0 && args.ids.i32()[i] < args.table->rows, "token ids lie in the vocabulary");
  context.device.embed(args, context);
}

} // namespace omni
