#pragma once
// Where a coordinator of the experiment's own listens, and what others dial, as an experiment file
// says it: the keys `listen` and `advertise` of `pool` and of `slurm`.
#include <string>

#include "manager/experiment/section.h"

namespace attune {

struct ListenAddress {
  std::string listen = "127.0.0.1:0";  // HOST:PORT; good for workers of this machine only
  std::string advertise;               // what others dial; empty: what it listens on
};

// What one can listen on and nobody can dial: 0.0.0.0 and its like.
bool is_any_host(const std::string& host);
// Nobody on another machine can dial it.
bool is_this_host(const std::string& host);

// Findings: what is no HOST:PORT, and what nobody can dial.
ListenAddress read_listen_address(const Section& section);

}  // namespace attune
