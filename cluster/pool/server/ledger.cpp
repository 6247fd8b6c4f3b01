#include "cluster/pool/server/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "journal/codec.h"

namespace attune {
namespace {

// If more bytes than this wait for the disk, the server stops reading what its peers say.
constexpr std::size_t kMostBacklog = std::size_t{64} << 20;
// A restart: the former coordinator may need a moment to end.
constexpr std::chrono::milliseconds kLockPatience{5000};
constexpr JsonLimits kLimits{.depth = 200, .keys = 10'000'000};

json header(std::uint64_t seed) {
  return {{"program", "attune coordinator"}, {"format", kCoordinatorFormat}, {"seed", seed}};
}

std::unexpected<Error> cannot_go_on(const std::string& path, const Error& why) {
  return fail(fmt::format("{}: {}; to begin afresh, without the tasks that it knows, move it away",
                          path, why.message));
}

Result<std::uint64_t> read_seed(std::string_view bytes) {
  RecordScanner records(bytes);
  const auto first = TRY(records.next());
  if (!first) return fail("no record in it is whole");
  const json begun = TRY(parse_json(first->payload, kLimits));
  const json seed = begun.is_object() ? begun.value("seed", json()) : json();
  if (!seed.is_number_unsigned() || begun != header(seed.get<std::uint64_t>()))
    return fail(fmt::format("it is of another program or format: {}", dump_json(begun)));
  return seed.get<std::uint64_t>();
}

struct Place {
  std::uint64_t good = 0, after_snapshot = 0;
};

Result<Place> read(std::string_view bytes, const Ledger::Readers& readers) {
  RecordScanner records(bytes);
  TRY(records.next());  // the header
  std::uint64_t behind = records.end_of_good();
  while (const auto record = TRY(records.next())) {
    const auto at = [&](const Error& error) {
      return fail(fmt::format("the record at byte {}: {}", record->offset, error.message));
    };
    const auto content = parse_json(record->payload, kLimits);
    if (!content) return at(content.error());
    const bool snapshot = record->kind == RecordKind::snapshot;
    const auto taken = snapshot ? readers.load(*content) : readers.replay(*content);
    if (!taken) return at(taken.error());
    if (snapshot) behind = records.end_of_good();
  }
  return Place{records.end_of_good(), records.end_of_good() - behind};
}

}  // namespace

Result<Ledger::Former> Ledger::look(FileSystem& files, const Options& options) {
  Former former;
  auto file = TRY(JournalFile::lock_and_read(files, options.path, kLockPatience));
  if (file && !file->bytes.empty()) {
    const auto seed = read_seed(file->bytes);
    if (!seed) return cannot_go_on(options.path, seed.error());
    former.seed = *seed;
  }
  former.file = std::move(file);
  return former;
}

Result<std::unique_ptr<Ledger>> Ledger::open(FileSystem& files, const Options& options,
                                             Former former, std::uint64_t seed,
                                             const Readers& readers, std::function<void()> ready,
                                             const Log& log) {
  const JournalFile::Options file_options{options.path, options.durability};
  const bool had_records = former.seed.has_value();
  std::unique_ptr<JournalFile> file;
  if (had_records) {
    const std::string& bytes = former.file->bytes;
    const auto place = read(bytes, readers);
    if (!place) return cannot_go_on(options.path, place.error());
    if (place->good < bytes.size())
      log.warning("{}: the last {} bytes were not written to their end, and are cut off",
                  options.path, bytes.size() - place->good);
    file = TRY(JournalFile::open(files, file_options, *std::move(former.file), place->good,
                                 place->after_snapshot, std::move(ready), log));
  } else {
    former.file.reset();  // closes an empty file, because create() locks it again
    file = TRY(JournalFile::create(files, file_options, std::move(ready), log));
    file->append({RecordKind::header, dump_json(header(seed))});
  }
  return std::unique_ptr<Ledger>(
      new Ledger(std::move(file), header(seed), options.snapshot_bytes, had_records));
}

void Ledger::append(std::string record) { file_->append({RecordKind::edge, std::move(record)}); }

bool Ledger::full() const { return file_->full(kMostBacklog); }

// A snapshot is due when the records since the last one have `snapshot_bytes_`, and at least twice
// the size of that snapshot, so that most of what is written are records. `tried_` keeps a snapshot
// that failed from being tried again at each call.
void Ledger::snapshot_if_due(const std::function<json()>& save) {
  if (file_->writing_snapshot() || !file_->trouble().empty()) return;
  const std::uint64_t most = std::max<std::uint64_t>(snapshot_bytes_, 2 * file_->snapshot_bytes());
  const std::uint64_t since = file_->bytes_since_snapshot();
  if (since < tried_) tried_ = 0;  // the last one has succeeded
  if (since - tried_ < most) return;
  tried_ = since;
  file_->begin_snapshot();
  file_->write_snapshot(header_, save(), nullptr);
}

}  // namespace attune
