#pragma once
// Experiments that tests make up.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "dashboard/view.h"

namespace attune::test {

// Knows /api/v1/plain, /api/v1/hidden (below the prefix), /api/v1/hidden-change (POST, too),
// /api/v1/heavy and /api/v1/slow-change (POST; both wait until they are let go), /api/v1/change
// (POST) and /api/v1/broken (throws). Events of a subject count how often they were asked for.
class FakeSource final : public ViewSource {
 public:
  class FakeView final : public View {
   public:
    explicit FakeView(FakeSource& source) : source_(source) {}
    HttpResponse answer(const HttpRequest& request) override {
      if (request.target.path.back() == "broken") throw std::runtime_error("broken");
      const std::string& name = request.target.path.back();
      if (name == "heavy" || name == "slow-change") source_.let_go.wait(false);
      return HttpResponse::text(200, "application/json", "{\"body\":\"" + request.body + "\"}");
    }
    Event event(const std::string& subject) override {
      if (subject.empty()) return {"all", "", "{}"};
      return {"state", std::to_string(++source_.events), "line 1\nof " + subject};
    }

   private:
    FakeSource& source_;
  };

  CallKind kind(const HttpRequest& request) const override {
    const auto& path = request.target.path;
    if (path.size() != 3 || path[0] != "api") return {};
    const bool change = path[2].ends_with("change");
    return {.known = true,
            .allowed = request.method == (change ? "POST" : "GET"),
            .changes = change,
            .heavy = path[2] == "heavy",
            .hidden = path[2].starts_with("hidden")};
  }
  std::unique_ptr<View> view() override { return std::make_unique<FakeView>(*this); }
  void watch(OnChange on_change) override { changed = std::move(on_change); }

  OnChange changed;
  std::atomic<int> events = 0;
  std::atomic<bool> let_go = false;
};

}  // namespace attune::test
