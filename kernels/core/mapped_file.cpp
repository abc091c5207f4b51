#include "kernels/core/mapped_file.hpp"

#include "kernels/core/error.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace omni {

std::shared_ptr<const mapped_file> mapped_file::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw load_error("Cannot open " + path.string() + ": " + std::strerror(errno) + ".");
  struct stat status {};
  const bool usable = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  void* data = usable ? ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  ::close(fd);
  if (data == MAP_FAILED) throw load_error("Cannot read " + path.string() + ": expected a regular file that is not empty.");
  return std::shared_ptr<const mapped_file>(
      new mapped_file(path, static_cast<const std::byte*>(data), static_cast<std::size_t>(status.st_size)));
}

mapped_file::~mapped_file() { ::munmap(const_cast<std::byte*>(data_), size_); }

} // namespace omni
