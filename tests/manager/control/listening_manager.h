#pragma once
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>  // Boost 1.74's Asio forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "manager/control/control_server.h"
#include "manager/store/experiment_lock.h"

namespace attune {

// What other processes see of a manager: its lock, and its socket with a thread behind it.
class ListeningManager {
 public:
  ListeningManager(const std::filesystem::path& directory, ControlServer::Handler handler,
                   ControlLimits limits = {})
      : lock_(ExperimentLock::take(directory).value()),
        server_(ControlServer::listen(io_, directory, std::move(handler), limits).value()),
        thread_([this] { io_.run(); }) {}
  ListeningManager(const ListeningManager&) = delete;
  ListeningManager& operator=(const ListeningManager&) = delete;
  ~ListeningManager() {
    boost::asio::post(io_, [this] { server_.reset(); });
    thread_.join();
  }

 private:
  boost::asio::io_context io_;
  ExperimentLock lock_;
  std::unique_ptr<ControlServer> server_;
  std::thread thread_;
};

}  // namespace attune
