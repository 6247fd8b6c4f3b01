#pragma once
// A home folder for nnictl. nnictl asks only experiments that ~/nni-experiments/.experiment lists,
// and it knows no prefix of a path after the start of an experiment. So we make a folder with such
// a list, in which the port is "PORT/PREFIX": nnictl puts it into URLs as it is. The user's own
// list stays as it is.
#include <filesystem>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/result.h"
#include "manager/store/store_reader.h"

namespace attune {

// Lives on the thread of the io_context.
class NniHome {
 public:
  // Makes the folder, for this user alone, and keeps the list up to date. `place`: what nnictl is
  // to put behind "http://localhost:". `stops`: nnictl stop stops the experiment while it runs;
  // otherwise, and after its end, it ends this program.
  static Result<std::unique_ptr<NniHome>> make(boost::asio::io_context& io, StoreReader reader,
                                               const StoredExperiment& experiment,
                                               std::string place, bool stops);
  NniHome(const NniHome&) = delete;
  NniHome& operator=(const NniHome&) = delete;
  ~NniHome();  // removes the folder

  const std::filesystem::path& path() const { return path_; }

 private:
  NniHome(boost::asio::io_context& io, StoreReader reader, std::string place, bool stops)
      : reader_(std::move(reader)), place_(std::move(place)), stops_(stops), timer_(io) {}
  Result<void> fill(const StoredExperiment& experiment);
  Result<void> write_list(const std::string& id);
  void look_again(const std::string& id);

  StoreReader reader_;
  std::string place_;
  bool stops_;
  std::filesystem::path path_;
  std::string written_;  // the list
  boost::asio::steady_timer timer_;
};

}  // namespace attune
