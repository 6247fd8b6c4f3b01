#pragma once
// Checkpoints of a function as folders, after Ray Tune's function API (2020). Below a log
// directory:
//
//   checkpoint_<step>     permanent; make_checkpoint_dir() made it
//   checkpoint_-1         null: saved before there was anything to save
//   checkpoint_tmp<text>  temporary: unpacked from bytes, removed with its owner
//
// Each holds the empty file .is_checkpoint, by which it is found; null and temporary ones also hold
// .null_marker and .temp_marker. The file .tune_metadata, a JSON object, has the state of the
// runner. Unless something else is said, errors are those of the disk, with the path.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace attune::checkpoint_dirs {

// Empty but for the marker; what was there before is removed. -1 and below are refused.
Result<std::filesystem::path> make(const std::filesystem::path& logs, std::int64_t step);
Result<std::filesystem::path> make_null(const std::filesystem::path& logs);

// The folder with the marker that `path` is or lies in. An error: there is none.
Result<std::filesystem::path> find(const std::filesystem::path& path);
bool is_null(const std::filesystem::path& folder);

// Makes a permanent copy of a temporary folder, which stays, but loses its marker.
Result<std::filesystem::path> make_permanent(const std::filesystem::path& temporary,
                                             const std::filesystem::path& logs, std::int64_t step);

// The file is written as a whole or not at all.
Result<void> write_metadata(const std::filesystem::path& folder, const json& metadata);
Result<json> read_metadata(const std::filesystem::path& folder);  // an object

// pack() returns all regular files of the folder as bytes (trial/packed_files.h); unpack() writes
// them into a temporary folder. Errors: the bytes are no such files, or a path leads out of the
// folder.
Result<std::string> pack(const std::filesystem::path& folder);
Result<std::filesystem::path> unpack(std::string_view bytes, const std::filesystem::path& logs);

}  // namespace attune::checkpoint_dirs
