// The commands that give results to other programs, and take over what those have begun.
#include "manager/cli/options_parser.h"

namespace attune {

void add_results(CLI::App& app, ParsedOptions& found) {
  const std::string look = "Look";
  CLI::App* best = command(app, found, look, "best", "Show the best trials and their parameters",
                           &ParsedOptions::best,
                           "  attune best\n"
                           "  attune best -k 5 --json\n"
                           "  attune best --by model\n"
                           "  eval \"python3 train.py $(attune best --format args)\"\n");
  choice_options(best, found.best.which, true);
  best->add_option("-k,--count", found.best.count,
                   "How many trials to print (default: 1; with several objectives all trade-offs)")
      ->check(trial_numbers())
      ->type_name("N");
  among(best->add_option_function<std::string>(
            "--by", [&found](const std::string& by) { found.best.by_model = by == "model"; },
            "Whose best trial: observed, that with the best result (default), or model, that of "
            "which a model of all results expects most, because noise makes results lucky"),
        "observed|model")
      ->excludes("--count");
  among(
      best->add_option(
          "--format", found.best.format,
          "Print only the parameters: as options of a command line, lines for eval, JSON or YAML"),
      "args|env|json|yaml")
      ->excludes("--json");

  CLI::App* importance =
      command(app, found, look, "importance", "Show which parameters the results depend on",
              &ParsedOptions::importance,
              "  attune importance\n"
              "  attune importance --metric seconds\n"
              "  attune importance --pairs --json\n");
  choice_options(importance, found.importance.which, true);
  among(
      importance->add_option(
          "--method", found.importance.method,
          "ped-anova: what the best tenth of the trials have in common (default). fanova: what "
          "results depend on over the whole search space, by a random forest, which takes longer"),
      "ped-anova|fanova");
  importance->add_option("--metric", found.importance.metric, "Another objective than the first")
      ->type_name("NAME");
  importance->add_flag("--pairs", found.importance.pairs,
                       "Also what two parameters explain only together; its method is fanova");

  CLI::App* exported = command(app, found, look, "export", "Write all trials, for other programs",
                               &ParsedOptions::exported,
                               "  attune export -o trials.csv\n"
                               "  attune export --reports -o curves.csv\n"
                               "  attune export --format jsonl | head\n"
                               "  attune export --format optuna -o study.log\n"
                               "  attune export --format tensorboard -o runs\n"
                               "  attune export --format mlflow -o mlruns\n");
  choice_options(exported, found.exported.which, true);
  among(exported->add_option("--format", found.exported.format, "Format (default: csv)"),
        "csv|jsonl|optuna|tensorboard|mlflow");
  exported->add_flag("--reports", found.exported.reports,
                     "Write all intermediate results, one row each, instead of trials");
  exported
      ->add_option("-o,--output", found.exported.output,
                   "File to write (default: standard output), or folder for tensorboard and mlflow")
      ->type_name("FILE");
}

void add_adopt(CLI::App& app, ParsedOptions& found) {
  CLI::App* adopt =
      command(app, found, "Run", "adopt",
              "Make an experiment file of what another program has begun", &ParsedOptions::adopt,
              "  attune adopt study.log --command 'python3 train.py' -o digits.yaml\n"
              "  attune run digits.yaml --import digits.jsonl\n"
              "  attune adopt ~/nni-experiments/k3v8abcd\n");
  adopt->add_option("file", found.adopt.file, "A journal file of Optuna, or nni.sqlite of NNI")
      ->required()
      ->type_name("FILE");
  adopt->add_option("--study", found.adopt.study, "Which study, if the file has several")
      ->type_name("NAME");
  adopt
      ->add_option("--command", found.adopt.trial_command,
                   "trialCommand of the experiment file: the command of one trial")
      ->type_name("COMMAND");
  adopt
      ->add_option("-o,--output", found.adopt.output,
                   "The experiment file to write; the results are beside it, as .jsonl (default: "
                   "experiment.yaml)")
      ->type_name("FILE");
  adopt->add_flag("--json", found.adopt.json, "Print JSON");
}

}  // namespace attune
