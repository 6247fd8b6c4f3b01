// The commands that are about whole experiments: attune config, compare, rename, delete.
#include "manager/cli/options_parser.h"

namespace attune {

void add_experiments(CLI::App& app, ParsedOptions& found) {
  const std::string look = "Look", group = "Experiments";
  choice_options(command(app, found, look, "config", "Print the experiment file, as it is stored",
                         &ParsedOptions::config,
                         "  attune config > again.yaml && attune run again.yaml\n"
                         "  attune config abcd --json\n"),
                 found.config.which, true);

  CLI::App* compare = command(app, found, look, "compare", "Compare experiments side by side",
                              &ParsedOptions::compare,
                              "  attune compare abcd efgh\n"
                              "  attune compare tpe random --dir runs --json\n");
  compare->add_option("experiments", found.compare.experiments, "Ids, beginnings of ids, or names")
      ->required()
      ->type_name("EXPERIMENT");
  directory_option(compare, found.compare.directory);
  compare->add_flag("--json", found.compare.json, "Print JSON");

  CLI::App* rename = command(app, found, group, "rename", "Give an experiment another name",
                             &ParsedOptions::rename, "  attune rename abcd2345 digits-tpe\n");
  rename->add_option("experiment", found.rename.which.experiment, "Id, beginning of an id, or name")
      ->required()
      ->type_name("EXPERIMENT");
  rename->add_option("name", found.rename.name, "The new name")->required()->type_name("NAME");
  directory_option(rename, found.rename.which.directory);
  rename->add_flag("--json", found.rename.which.json, "Print JSON");

  CLI::App* deleted =
      command(app, found, group, "delete", "Delete experiments, with the files of their trials",
              &ParsedOptions::deleted,
              "  attune delete abcd2345\n"
              "  attune delete abcd efgh --yes\n");
  deleted->add_option("experiments", found.deleted.experiments, "Ids, beginnings of ids, or names")
      ->required()
      ->type_name("EXPERIMENT");
  deleted->add_flag("--yes", found.deleted.yes, "Do not ask");
  directory_option(deleted, found.deleted.directory);
  deleted->add_flag("--json", found.deleted.json, "Print JSON");

  // Hidden: the completion scripts call it.
  CLI::App* words = command(app, found, "", "completion-words", "Words that exist",
                            &ParsedOptions::completion_words, "  attune completion-words trials\n");
  among(words->add_option("what", found.completion_words.what, "Of what")->required(),
        "experiments|trials");
  choice_options(words, found.completion_words.which, false);
}

}  // namespace attune
