#include "katib/server.h"

#include <grpcpp/ext/health_check_service_server_builder_option.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <chrono>
#include <exception>

#include "katib/api.grpc.pb.h"
#include "katib/experiments.h"
#include "katib/parameter.h"
#include "katib/plan.h"
#include "katib/stop_rules.h"

namespace attune::katib {
namespace {

using namespace api::v1::beta1;
using grpc::ServerContext;
using grpc::Status;
using grpc::StatusCode;
using std::chrono::seconds;

// 10,000 trials of an ordinary experiment are 5 MB; gRPC's own limit is 4.
constexpr int kMostReceived = 256 << 20;
// Messages travel in a header, for which gRPC clients take 8 kB in all.
constexpr std::size_t kMostMessage = 2000;
// Controllers call one after the other. A thread needs memory, and none is ever short of work.
constexpr int kMostThreads = 16;
constexpr seconds kToEnd{3};
constexpr seconds kToRead{5};

Status refused(const ServerContext& context, const Error& error) {
  if (context.IsCancelled()) return {StatusCode::CANCELLED, "cancelled"};
  return {StatusCode::INVALID_ARGUMENT, error.message.substr(0, kMostMessage)};
}

// UNKNOWN, what gRPC makes of exceptions, would fail the experiment.
template <class Call>
Status guarded(const Log& log, Call&& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    log.error("{}", error.what());
    return {StatusCode::INTERNAL, error.what()};
  }
}

class SuggestionService final : public Suggestion::Service {
 public:
  SuggestionService(const TunerRegistry& tuners, std::string folder, const Log& log)
      : tuners_(tuners), log_(log), experiments_(tuners, std::move(folder), log) {}

  Status GetSuggestions(ServerContext* context, const GetSuggestionsRequest* request,
                        GetSuggestionsReply* reply) override {
    return guarded(log_, [&] {
      auto answer = experiments_.answer(*request, [&] { return context->IsCancelled(); });
      if (!answer) {
        log_.warning("{}: {}", request->experiment().name(), answer.error().message);
        return refused(*context, answer.error());
      }
      *reply = *std::move(answer);
      log_.info("{}: {} of {} in all, {} trials", request->experiment().name(),
                request->current_request_number(), request->total_request_number(),
                request->trials_size());
      return Status::OK;
    });
  }

  Status ValidateAlgorithmSettings(ServerContext* context,
                                   const ValidateAlgorithmSettingsRequest* request,
                                   ValidateAlgorithmSettingsReply*) override {
    return guarded(log_, [&] {
      auto checked = check_experiment(request->experiment(), tuners_);
      return checked ? Status::OK : refused(*context, checked.error());
    });
  }

 private:
  const TunerRegistry& tuners_;
  const Log log_;
  Experiments experiments_;
};

// Asks Katib's DB manager. Keeps the connection for the next trial. One call at a time.
class ReportReader {
 public:
  Result<std::vector<double>> operator()(const std::string& address, const std::string& trial,
                                         const std::string& metric) {
    if (!stub_ || address != address_) {
      address_ = address;
      grpc::ChannelArguments arguments;
      arguments.SetMaxReceiveMessageSize(kMostReceived);  // 4 MB are 40,000 reports
      stub_ = DBManager::NewStub(
          grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
    }
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kToRead);
    GetObservationLogRequest request;
    request.set_trial_name(trial);
    request.set_metric_name(metric);
    GetObservationLogReply reply;
    const Status status = stub_->GetObservationLog(&context, request, &reply);
    if (!status.ok()) {
      stub_.reset();  // a channel that has failed waits before it connects again
      return fail(address + ": " + status.error_message());
    }
    std::vector<double> values;
    for (const MetricLog& log : reply.observation_log().metric_logs()) {
      const auto number = number_of(log.metric().value());
      if (log.metric().name() == metric && number) values.push_back(*number);
    }
    return values;
  }

 private:
  std::string address_;
  std::shared_ptr<DBManager::Stub> stub_;
};

class EarlyStoppingService final : public EarlyStopping::Service {
 public:
  EarlyStoppingService(const AssessorRegistry& assessors, const Log& log)
      : log_(log), rules_(assessors, ReportReader(), log) {}

  Status GetEarlyStoppingRules(ServerContext* context, const GetEarlyStoppingRulesRequest* request,
                               GetEarlyStoppingRulesReply* reply) override {
    return guarded(log_, [&] {
      auto rules = rules_.rules(*request, [&] { return context->IsCancelled(); });
      if (!rules) return refused(*context, rules.error());
      *reply = *std::move(rules);
      return Status::OK;
    });
  }

  Status ValidateEarlyStoppingSettings(ServerContext* context,
                                       const ValidateEarlyStoppingSettingsRequest* request,
                                       ValidateEarlyStoppingSettingsReply*) override {
    return guarded(log_, [&] {
      auto checked = rules_.check(request->early_stopping());
      return checked ? Status::OK : refused(*context, checked.error());
    });
  }

  Status SetTrialStatus(ServerContext*, const SetTrialStatusRequest*,
                        SetTrialStatusReply*) override {
    return {StatusCode::UNIMPLEMENTED,
            "attune-katib cannot mark a trial as stopped: that needs the API of Kubernetes; see "
            "docs/katib.md"};
  }

 private:
  const Log log_;
  StopRules rules_;
};

class RunningServer final : public Server {
 public:
  RunningServer(const Options& options, const TunerRegistry& tuners,
                const AssessorRegistry& assessors, const Log& log)
      : suggestion_(tuners, options.folder, log), early_stopping_(assessors, log) {}

  Result<void> start(const std::string& listen) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    // Else a second server could take half of the calls.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.SetMaxReceiveMessageSize(kMostReceived);
    builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
    builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
    builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 2);
    grpc::ResourceQuota quota;
    quota.SetMaxThreads(kMostThreads);
    builder.SetResourceQuota(quota);
    builder.RegisterService(&suggestion_);
    builder.RegisterService(&early_stopping_);
    int port = 0;
    builder.AddListeningPort(listen, grpc::InsecureServerCredentials(), &port);
    server_ = builder.BuildAndStart();
    if (!server_ || port == 0) {
      return fail("--listen " + listen +
                  ": cannot listen there; HOST:PORT of this machine "
                  "expected, that no other program uses");
    }
    server_->GetHealthCheckService()->SetServingStatus("manager.v1beta1.Suggestion", true);
    server_->GetHealthCheckService()->SetServingStatus("manager.v1beta1.EarlyStopping", true);
    address_ = listen.substr(0, listen.rfind(':') + 1) + std::to_string(port);
    return {};
  }

  void stop() override {
    server_->Shutdown(std::chrono::system_clock::now() + kToEnd);
    server_->Wait();
  }
  std::string address() const override { return address_; }

 private:
  SuggestionService suggestion_;
  EarlyStoppingService early_stopping_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace

Result<std::unique_ptr<Server>> serve(const Options& options, const TunerRegistry& tuners,
                                      const AssessorRegistry& assessors, const Log& log) {
  auto server = std::make_unique<RunningServer>(options, tuners, assessors, log);
  TRY(server->start(options.listen));
  return server;
}

}  // namespace attune::katib
