#include "app/media/fetch.hpp"

#include <curl/curl.h>
#include <memory>
#include <new>
#include <stdexcept>
#include <unistd.h>

namespace omni::media {
namespace {

/// One download, as libcurl's callbacks see it.
struct download {
  const limits& bounds;
  const address_policy& allowed;
  const std::atomic<bool>& cancelled;
  std::string bytes;
  bool address_refused = false;
  bool too_long = false;
};

curl_socket_t open_socket(void* self, curlsocktype /*purpose*/, curl_sockaddr* address) {
  auto& job = *static_cast<download*>(self);
  if (!job.allowed(address->addr)) {
    job.address_refused = true;
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::size_t take(const char* bytes, std::size_t one, std::size_t count, void* self) {
  auto& job = *static_cast<download*>(self);
  if (one * count > job.bounds.medium_bytes - job.bytes.size()) {
    job.too_long = true;
    return 0;
  }
  job.bytes.append(bytes, one * count);
  return one * count;
}

int progress(void* self, curl_off_t /*all*/, curl_off_t /*got*/, curl_off_t /*up_all*/, curl_off_t /*up*/) {
  return static_cast<download*>(self)->cancelled ? 1 : 0;
}

struct curl_deleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};

template <class T>
void set(CURL* handle, CURLoption option, T value) {
  if (const CURLcode problem = curl_easy_setopt(handle, option, value); problem != CURLE_OK)
    throw std::runtime_error(std::string("libcurl: ") + curl_easy_strerror(problem));
}

void configure(CURL* handle, const std::string& url, download& job) {
  set(handle, CURLOPT_URL, url.c_str());
  set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  set(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  set(handle, CURLOPT_PROXY, "");
  set(handle, CURLOPT_FOLLOWLOCATION, 1L);
  set(handle, CURLOPT_MAXREDIRS, long(job.bounds.redirects));
  set(handle, CURLOPT_CONNECTTIMEOUT, long(job.bounds.connect_timeout.count()));
  set(handle, CURLOPT_TIMEOUT, long(job.bounds.fetch_timeout.count()));
  set(handle, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(job.bounds.medium_bytes));
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, CURLOPT_FAILONERROR, 1L);
  set(handle, CURLOPT_USERAGENT, "omni-serve");
  set(handle, CURLOPT_OPENSOCKETFUNCTION, open_socket);
  set(handle, CURLOPT_OPENSOCKETDATA, static_cast<void*>(&job));
  set(handle, CURLOPT_WRITEFUNCTION, take);
  set(handle, CURLOPT_WRITEDATA, static_cast<void*>(&job));
  set(handle, CURLOPT_NOPROGRESS, 0L);
  set(handle, CURLOPT_XFERINFOFUNCTION, progress);
  set(handle, CURLOPT_XFERINFODATA, static_cast<void*>(&job));
}

} // namespace

outcome<std::string> fetch(const std::string& url, const limits& bounds, const address_policy& allowed,
                           const std::atomic<bool>& cancelled) {
  const std::unique_ptr<CURL, curl_deleter> handle(curl_easy_init());
  if (!handle) throw std::bad_alloc();
  download job{.bounds = bounds, .allowed = allowed, .cancelled = cancelled, .bytes = {}};
  configure(handle.get(), url, job);
  const CURLcode got = curl_easy_perform(handle.get());
  if (got == CURLE_OK) return std::move(job.bytes);
  if (job.address_refused)
    return wrong("leads to an address that is not on the public Internet, from which this server fetches nothing; send "
                 "the medium as a data: URL");
  if (job.too_long || got == CURLE_FILESIZE_EXCEEDED)
    return wrong("leads to more than " + mebibytes(bounds.medium_bytes) + "; send a smaller file");
  if (got == CURLE_HTTP_RETURNED_ERROR) {
    long status = 0;
    curl_easy_getinfo(handle.get(), CURLINFO_RESPONSE_CODE, &status);
    return wrong("could not be fetched: its server answered " + std::to_string(status) + "; check the address");
  }
  return wrong(std::string("could not be fetched (") + curl_easy_strerror(got) +
               "); check the address, or send the medium as a data: URL");
}

} // namespace omni::media
