#include "dashboard/stream_board.h"

#include <utility>

namespace attune {

StreamBoard::StreamBoard(boost::asio::io_context& io, Produce produce, StreamRules rules)
    : io_(io), produce_(std::move(produce)), rules_(rules), alive_timer_(io) {
  stay_alive();
}

StreamBoard::~StreamBoard() {
  *alive_ = false;
  for (auto& [subject, topic] : topics_)
    for (const auto& stream : topic.streams) stream->close();
}

void StreamBoard::add(const std::string& subject, std::shared_ptr<EventStream> stream) {
  const auto place = topics_.try_emplace(subject, io_).first;
  place->second.streams.push_back(std::move(stream));
  ++count_;
  mark(subject);
}

void StreamBoard::changed(const std::string& subject) {
  if (!subject.empty()) {
    mark(subject);
    return mark("");
  }
  for (const auto& [each, topic] : topics_) mark(each);
}

void StreamBoard::mark(const std::string& subject) {
  const auto found = topics_.find(subject);
  if (found == topics_.end()) return;
  found->second.due = true;
  if (!found->second.busy) produce(subject, found->second);
}

void StreamBoard::produce(const std::string& subject, Topic& topic) {
  topic.due = false;
  topic.busy = true;
  const bool began = produce_(subject, [this, alive = alive_, subject](const View::Event& event) {
    if (*alive) tell(subject, event);
  });
  if (began) return;
  topic.due = true;
  rest(subject, topic);
}

void StreamBoard::tell(const std::string& subject, const View::Event& event) {
  const auto found = topics_.find(subject);
  if (found == topics_.end()) return;
  auto& streams = found->second.streams;
  for (const auto& stream : streams) {
    stream->send(event.name, event.id, event.data);
  }
  count_ -= std::erase_if(streams, [](const auto& stream) { return !stream->is_open(); });
  if (streams.empty()) {
    topics_.erase(found);
    return;
  }
  rest(subject, found->second);
}

void StreamBoard::rest(const std::string& subject, Topic& topic) {
  topic.timer.expires_after(rules_.pace);
  topic.timer.async_wait([this, alive = alive_, subject](boost::system::error_code error) {
    if (error || !*alive) return;
    const auto found = topics_.find(subject);
    if (found == topics_.end()) return;
    found->second.busy = false;
    if (found->second.due) produce(subject, found->second);
  });
}

void StreamBoard::stay_alive() {
  alive_timer_.expires_after(rules_.alive);
  alive_timer_.async_wait([this, alive = alive_](boost::system::error_code error) {
    if (error || !*alive) return;
    for (auto& [subject, topic] : topics_) {
      for (const auto& stream : topic.streams) stream->keep_alive();
      count_ -= std::erase_if(topic.streams, [](const auto& each) { return !each->is_open(); });
    }
    std::erase_if(topics_, [](const auto& each) { return each.second.streams.empty(); });
    stay_alive();
  });
}

}  // namespace attune
