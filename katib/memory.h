#pragma once
// What is known of one experiment: the proposals that Katib has not turned into trials yet, the
// trials that it has, and the tuner. docs/katib.md explains the rules.
//
// Katib sends all trials with every request, and asks again for what it did not receive. So the
// request decides what happened, and the memory only adds what a request does not say. A memory
// that lacks something that the request knows is out of date, and is made anew from the request.
//
// One owner at a time.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "katib/api.pb.h"
#include "katib/engine.h"
#include "katib/plan.h"

namespace attune::katib {

// What a memory needs of its surroundings. The registry must outlive it.
struct Surroundings {
  const TunerRegistry& tuners;
  Log log = {};
};

class Memory {
 public:
  // `saved`: from save(); null: there is none. A saved memory of another experiment, or one that
  // cannot be read, is not used, with a line in the log.
  static std::unique_ptr<Memory> make(const Plan& plan, const json& saved,
                                      const Surroundings& surroundings);

  // The answer: exactly current_request_number assignments, with names and the echo. The same
  // request gives the same answer. `cancelled`: the answer is not wanted any more; then the error
  // says so, and what was proposed by then is kept for the next request. Other errors: impossible
  // numbers in the request, a tuner that refuses the experiment.
  using Request = api::v1::beta1::GetSuggestionsRequest;
  using Reply = api::v1::beta1::GetSuggestionsReply;
  Result<Reply> answer(const Plan& plan, const Request& request,
                       const std::function<bool()>& cancelled);

  const std::string& identity() const { return identity_; }
  json save() const;

 private:
  struct Known {                     // a trial that a request has named
    std::optional<TrialId> id = {};  // nothing: it does not fit the space, or was imported
    bool told = false;
  };
  struct Open {  // a proposal that no request has named
    TrialId id = 0;
    Values values = {};
  };
  using Proposals = std::map<std::int64_t, Open>;  // by number
  using Trials = google::protobuf::RepeatedPtrField<api::v1::beta1::Trial>;
  struct Echo {
    std::int64_t next = 0;  // number of the first proposal that Katib has not accepted
    std::map<std::int64_t, Values> open = {};  // those before it that were no trials yet
    json memory = nullptr;                     // from save(), if it was small
  };

  explicit Memory(const Surroundings& surroundings) : surroundings_(surroundings) {}
  Result<void> load(const Plan& plan, const json& saved);
  std::optional<Echo> read_echo(const Plan& plan) const;
  void write_echo(Reply& reply, std::int64_t next) const;
  bool out_of_date(const Plan& plan, const Request& request, const std::optional<Echo>& echo) const;
  Result<void> begin(const Plan& plan, const Request& request, const std::optional<Echo>& echo);
  std::int64_t unnamed() const;
  bool recall(const Plan& plan, const Request& request, const std::optional<Echo>& echo);
  void learn(const Plan& plan, const Trials& trials);
  using Results = std::vector<const api::v1::beta1::Trial*>;
  Proposals::iterator find_open(const Plan& plan, const api::v1::beta1::Trial& trial);
  Known meet(const Plan& plan, const api::v1::beta1::Trial& trial, Results& results);
  void import(const Plan& plan, const Results& results);
  void tell_end(const Plan& plan, const api::v1::beta1::Trial& trial, TrialId id);
  void forget();
  void add_open(std::int64_t number, Open open);
  TrialId take_open(Proposals::iterator at);

  const Surroundings surroundings_;
  std::string identity_;
  std::string experiment_;
  std::unique_ptr<Engine> engine_;
  std::int64_t next_ = 0;      // number of the next proposal
  std::int64_t begun_at_ = 0;  // next_ when this memory began
  Proposals open_;
  std::unordered_map<std::string, std::int64_t> open_names_;
  std::set<std::pair<Values, std::int64_t>> open_values_;
  std::map<std::string, Known> known_;  // by name; ordered, so that save() is always the same

  // For requests without an echo, where Katib's numbers must tell what it has accepted.
  std::int64_t accepted_ = 0;  // proposals, by the last request
  std::int64_t deleted_ = 0;   // trials that Katib has deleted, with their proposals
  std::int64_t unknown_ = 0;   // proposals from before this memory that no request has named
};

}  // namespace attune::katib
