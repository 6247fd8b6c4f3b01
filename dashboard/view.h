#pragma once
// What the dashboard shows: the seam between the HTTP server and whoever knows the experiments.
// Requests and answers are those of docs/api.md.
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dashboard/http_message.h"

namespace attune {

// How a request is treated. Any thread may ask.
struct CallKind {
  bool known = false;    // false: there is no such path
  bool allowed = false;  // the path takes this method
  bool changes = false;  // it changes an experiment
  bool heavy = false;    // may take seconds: it must not hold up the others
  bool hidden = false;   // served below the secret prefix, and only there (dashboard/access.h)
};

// One thread owns a View.
class View {
 public:
  virtual ~View() = default;
  // Carries out a request whose kind is `allowed`.
  virtual HttpResponse answer(const HttpRequest& request) = 0;

  // The state of `subject`, an experiment's id or "" for all, as one event of a stream. `id` is
  // another one after each change; it is empty where a page need not know it.
  struct Event {
    std::string name, id, data;
  };
  virtual Event event(const std::string& subject) = 0;
};

// The experiments of a running dashboard. It outlives the views.
class ViewSource {
 public:
  virtual ~ViewSource() = default;
  virtual CallKind kind(const HttpRequest& request) const = 0;
  // Called once for each thread that answers, on that thread.
  virtual std::unique_ptr<View> view() = 0;
  // Calls `changed` on the thread of the server, until it is replaced, whenever an event may differ
  // from the one before. `subject`: as for View::event(). Empty: all have changed.
  using OnChange = std::function<void(const std::string& subject)>;
  virtual void watch(OnChange changed) = 0;
};

}  // namespace attune
