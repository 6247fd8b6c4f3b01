#pragma once
// Who follows what: tells the streams of a subject its newest state after each change, but not more
// often than they can show it.
//
// Used on the thread of the io_context.
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "dashboard/http_server.h"
#include "dashboard/view.h"

namespace attune {

struct StreamRules {
  std::chrono::milliseconds pace{200};      // between two events of a subject
  std::chrono::milliseconds alive{15'000};  // between two comments
  std::size_t most = 128;                   // streams at once
};

class StreamBoard {
 public:
  // Makes the event of a subject, and calls `done` on the thread of the io_context later. Returns
  // false if it cannot now; the board asks again.
  using Done = std::function<void(View::Event)>;
  using Produce = std::function<bool(const std::string& subject, Done done)>;

  StreamBoard(boost::asio::io_context& io, Produce produce, StreamRules rules = {});
  ~StreamBoard();  // closes all streams

  bool is_full() const { return count_ >= rules_.most; }
  // The stream gets the present state soon, and then each change.
  void add(const std::string& subject, std::shared_ptr<EventStream> stream);
  // `subject` has changed, and with it the list of all. Empty: everything may have.
  void changed(const std::string& subject);

 private:
  struct Topic {
    explicit Topic(boost::asio::io_context& io) : timer(io) {}
    std::vector<std::shared_ptr<EventStream>> streams;
    boost::asio::steady_timer timer;
    bool due = false;   // there is a change that no event has told yet
    bool busy = false;  // an event is being made, or the pace does not allow one yet
  };

  void mark(const std::string& subject);
  void produce(const std::string& subject, Topic& topic);
  void tell(const std::string& subject, const View::Event& event);
  void rest(const std::string& subject, Topic& topic);
  void stay_alive();

  boost::asio::io_context& io_;
  Produce produce_;
  StreamRules rules_;
  std::map<std::string, Topic> topics_;
  boost::asio::steady_timer alive_timer_;
  std::size_t count_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // false: this object is gone
};

}  // namespace attune
