#include "app/http/connection.hpp"

#include <boost/asio/executor_work_guard.hpp>

#include <pthread.h>
#include <thread>
#include <unordered_map>

namespace omni::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// A pause before accepting again when the process is out of file descriptors, so as not to spin.
constexpr std::chrono::milliseconds accept_pause{100};

} // namespace

struct server::impl {
  connection_host host; // before `io`: connections die with `io`'s queue
  asio::io_context io{1};
  asio::thread_pool worker{1};
  tcp::acceptor acceptor{io};
  asio::steady_timer pause{io};
  std::unordered_map<connection*, std::shared_ptr<connection>> connections; // I/O thread only
  std::function<void()> drained;
  std::uint16_t port = 0;
  std::thread thread;

  expected<void> bind();
  void run();
  void accept();
  void on_accept(boost::system::error_code error, tcp::socket socket);
  void check_drained();
  void stop();
};

expected<void> server::impl::bind() {
  const server_options& wanted = host.options;
  const std::string where = wanted.host + ":" + std::to_string(wanted.port);
  boost::system::error_code error;
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(wanted.host, std::to_string(wanted.port), tcp::resolver::passive, error);
  if (error || found.empty())
    return fail(errc::invalid_request,
                "Cannot find the address of host '" + wanted.host + "' (" + error.message() + "): check --host.",
                "host");
  const tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) port = acceptor.local_endpoint(error).port();
  if (error)
    return fail(errc::load_failed,
                "Cannot listen on " + where + " (" + error.message() + "): choose another --host or --port.", "port");
  return {};
}

void server::impl::run() {
  host.door = std::make_shared<gate>(io);
  host.worker = &worker;
  host.closed = [this](connection* gone) {
    connections.erase(gone);
    check_drained();
  };
  accept();
  thread = std::thread([this] {
    pthread_setname_np(pthread_self(), "http-io");
    const auto work = asio::make_work_guard(io);
    io.run();
  });
  asio::post(worker, [] { pthread_setname_np(pthread_self(), "http-worker"); });
}

void server::impl::accept() {
  acceptor.async_accept(
      [this](boost::system::error_code error, tcp::socket socket) { on_accept(error, std::move(socket)); });
}

void server::impl::on_accept(boost::system::error_code error, tcp::socket socket) {
  if (!acceptor.is_open()) return;
  if (error) {
    if (error == asio::error::connection_aborted) return accept();
    host.options.log("Cannot accept a connection: " + error.message() + ".");
    pause.expires_after(accept_pause);
    pause.async_wait([this](boost::system::error_code cancelled) {
      if (!cancelled && acceptor.is_open()) accept();
    });
    return;
  }
  boost::system::error_code ignored; // the client may be gone already: the first read tells
  socket.set_option(tcp::no_delay(true), ignored);
  const std::size_t open = connections.size();
  const std::size_t limit = host.options.bounds.max_connections;
  // Beyond the limit some clients are told so; far beyond it a new connection is just closed.
  if (open < limit + limit / 4 + 1) {
    auto client = std::make_shared<connection>(host, std::move(socket));
    connections.emplace(client.get(), client);
    open < limit ? client->start() : client->start_refusing();
  }
  accept();
}

void server::impl::check_drained() {
  if (!host.draining || !connections.empty() || !drained) return;
  std::exchange(drained, nullptr)();
}

void server::impl::stop() {
  host.door->post([this] {
    boost::system::error_code ignored; // a socket that cannot be closed is closed with the process
    acceptor.close(ignored);
    host.draining = true;
    drained = nullptr;
    while (!connections.empty()) connections.begin()->second->close();
    io.stop();
  });
  thread.join();
  host.door->shut();
  worker.stop(); // what waits for it is dropped: the gate is shut
  worker.join();
}

server::server(std::unique_ptr<impl> state) : impl_(std::move(state)) {}

server::~server() { impl_->stop(); }

expected<std::unique_ptr<server>> server::listen(server_options options, router routes) {
  auto state = std::make_unique<impl>();
  state->host.options = std::move(options);
  state->host.routes = std::move(routes);
  if (auto bound = state->bind(); !bound) return tl::unexpected(bound.error());
  state->run();
  return std::unique_ptr<server>(new server(std::move(state)));
}

std::uint16_t server::port() const { return impl_->port; }

void server::drain(std::function<void()> done) {
  impl_->host.door->post([state = impl_.get(), done = std::move(done)]() mutable {
    boost::system::error_code ignored; // see stop()
    state->acceptor.close(ignored);
    state->host.draining = true;
    state->drained = std::move(done);
    auto now = state->connections; // draining one may remove it
    for (const auto& [key, client] : now) client->drain();
    state->check_drained();
  });
}

} // namespace omni::http
