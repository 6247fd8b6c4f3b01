#pragma once
// The functions of attune_plugin.h for the classes of plugin_types.hpp. Part of attune_plugin.hpp.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "plugins/attune_plugin.h"
#include "plugins/plugin_types.hpp"

namespace attune::plugin {

// Hidden: two shared objects, perhaps made with two versions of this file, must not share these.
namespace detail __attribute__((visibility("hidden"))) {

  // An instance and what it must keep until its next call.
  template <class Base>
  struct Held {
    std::unique_ptr<Base> algorithm;
    std::size_t size = 0;  // parameters of the space
    std::string error, reason;
    std::vector<std::string> reasons;
  };

  // Runs `body`; an exception becomes the text of the error.
  template <class Body>
  const char* guarded(std::string & error, Body && body) noexcept {
    try {
      body();
      return nullptr;
    } catch (const std::exception& caught) {
      try {
        error = caught.what();
        return error.c_str();
      } catch (...) {
        return "no memory";
      }
    } catch (...) {
      return "an exception of an unknown type";
    }
  }

  inline Space space_of(const attune_space& given) {
    Space space;
    for (std::size_t i = 0; i < given.count; ++i) {
      const attune_parameter& p = given.parameters[i];
      Parameter made;
      made.type = static_cast<attune_parameter_type>(p.type);
      made.path = p.path;
      made.candidates = p.candidates;
      made.log = p.is_log != 0;
      made.low = p.low;
      made.high = p.high;
      made.mean = p.mean;
      made.deviation = p.deviation;
      made.step = p.step;
      made.count = p.count;
      made.chosen = p.chosen;
      made.parent = p.parent;
      made.branch = p.branch;
      space.push_back(std::move(made));
    }
    return space;
  }

  inline Metrics metrics_of(const attune_metric* metrics, std::size_t count) {
    Metrics made;
    for (std::size_t i = 0; i < count; ++i) made[metrics[i].name] = metrics[i].value;
    return made;
  }

  inline Report report_of(const attune_report& given) {
    return {given.trial, given.step, metrics_of(given.metrics, given.metric_count)};
  }

  template <class Base>
  Held<Base>& held(void* self) {
    return *static_cast<Held<Base>*>(self);
  }

  inline void fill(Answer && answer, std::size_t size, attune_answer& into, std::string& reason) {
    into.kind = answer.kind;
    if (answer.kind != ATTUNE_PROPOSAL) return;
    if (answer.point.size() != size)
      throw std::logic_error("a proposal with an odd number of values");
    for (std::size_t i = 0; i < size; ++i) into.values[i] = answer.point[i];
    if (answer.budget) {
      into.flags |= ATTUNE_HAS_BUDGET;
      into.budget = *answer.budget;
    }
    if (answer.resume) {
      into.flags |= ATTUNE_HAS_RESUME;
      into.resume = *answer.resume;
    }
    if (answer.checkpoint_from) {
      into.flags |= ATTUNE_HAS_CHECKPOINT_FROM;
      into.checkpoint_from = *answer.checkpoint_from;
    }
    reason = std::move(answer.reason);
    if (!reason.empty()) into.reason = reason.c_str();
  }

  inline const attune_tuner& tuner_functions() {
    using H = Held<Tuner>;
    static const attune_tuner functions = {
        [](void* self, const attune_space* space) {
          H& h = held<Tuner>(self);
          return guarded(h.error, [&] {
            h.algorithm->set_space(space_of(*space));
            h.size = space->count;
          });
        },
        [](void* self, const std::int64_t* ids, std::size_t count, attune_answer* answers) {
          H& h = held<Tuner>(self);
          return guarded(h.error, [&] {
            h.reasons.resize(count);
            for (std::size_t i = 0; i < count; ++i) {
              fill(h.algorithm->ask(ids[i]), h.size, answers[i], h.reasons[i]);
            }
          });
        },
        [](void* self, const attune_outcome* outcomes, std::size_t count) {
          H& h = held<Tuner>(self);
          return guarded(h.error, [&] {
            for (std::size_t i = 0; i < count; ++i) {
              const attune_outcome& o = outcomes[i];
              Outcome told;
              told.trial = o.trial;
              told.end = static_cast<attune_end>(o.end);
              if (o.has_loss) told.loss = o.loss;
              if (!std::isnan(o.budget)) told.budget = o.budget;
              told.point.assign(o.values, o.values + h.size);
              told.metrics = metrics_of(o.metrics, o.metric_count);
              h.algorithm->tell(told);
            }
          });
        },
        [](void* self, std::int64_t trial, const double* values) {
          H& h = held<Tuner>(self);
          return guarded(h.error,
                         [&] { h.algorithm->adopt(trial, Point(values, values + h.size)); });
        },
        [](void* self, std::int64_t trial) {
          H& h = held<Tuner>(self);
          return guarded(h.error, [&] { h.algorithm->withdraw(trial); });
        },
        [](void* self, const attune_report* report, attune_decide decide, void* context) {
          H& h = held<Tuner>(self);
          return guarded(h.error, [&] {
            for (const Decision& d : h.algorithm->report(report_of(*report))) {
              const attune_decision said{d.trial, static_cast<std::int32_t>(d.action), d.complete,
                                         d.reason.c_str()};
              decide(context, &said);
            }
          });
        },
        [](void* self) {
          H& h = held<Tuner>(self);
          return guarded(h.error, [&] { h.algorithm->skip_ahead(); });
        }};
    return functions;
  }

  inline const attune_assessor& assessor_functions() {
    using H = Held<Assessor>;
    static const attune_assessor functions = {
        [](void* self, std::int64_t trial, const attune_report* reports, std::size_t count,
           attune_decision* decision) {
          H& h = held<Assessor>(self);
          return guarded(h.error, [&] {
            std::vector<Report> all;
            for (std::size_t i = 0; i < count; ++i) all.push_back(report_of(reports[i]));
            Decision d = h.algorithm->assess(trial, all);
            h.reason = std::move(d.reason);
            *decision = {d.trial, static_cast<std::int32_t>(d.action), d.complete,
                         h.reason.c_str()};
          });
        },
        [](void* self, std::int64_t trial, std::int32_t end) {
          H& h = held<Assessor>(self);
          return guarded(h.error,
                         [&] { h.algorithm->trial_end(trial, static_cast<attune_end>(end)); });
        }};
    return functions;
  }

  template <class Base, class Class>
  const char* create(const attune_setup* setup, void** self) {
    thread_local std::string error;
    return guarded(error, [&] {
      auto made = std::make_unique<Held<Base>>();
      made->algorithm = std::make_unique<Class>(Setup(*setup));
      *self = made.release();
    });
  }

  template <class Base>
  void destroy(void* self) {
    delete static_cast<Held<Base>*>(self);
  }

  template <class Base>
  const char* save(void* self, attune_write write, void* context) {
    auto& h = held<Base>(self);
    return guarded(h.error, [&] {
      const std::string state = h.algorithm->save();
      write(context, state.data(), state.size());
    });
  }

  template <class Base>
  const char* load(void* self, const char* text, std::size_t size) {
    auto& h = held<Base>(self);
    return guarded(h.error, [&] { h.algorithm->load(std::string(text, size)); });
  }

  inline std::string json_text(const std::string& text) {
    std::string json = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') json += '\\';
      json += c;
    }
    return json + '"';
  }

  inline std::string json_number(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", x);
    return text;
  }

}  // namespace detail

}  // namespace attune::plugin
