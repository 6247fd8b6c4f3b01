#pragma once
// The Outbox in attune.sqlite. Its functions report no failures: the next commit of the store fails
// instead.
#include "manager/decider/outbox.h"
#include "manager/store/store.h"

namespace attune {

class StoreOutbox final : public Outbox {
 public:
  explicit StoreOutbox(Store& store) : store_(store) {}  // outlives this

  void append(std::uint64_t number, const Frame& command) override;
  void drop(std::uint64_t first, std::uint64_t last) override;
  void set_counts(const Counts& counts) override { store_.set_counts(counts); }
  void forget() override;
  void on_commit(std::function<void()> committed) override;

 private:
  Store& store_;
};

}  // namespace attune
