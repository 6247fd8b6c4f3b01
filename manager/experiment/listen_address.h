#pragma once
// Reads the keys `listen` and `advertise` of `pool` and `slurm` in an experiment file: where the
// experiment's own coordinator listens, and which address others dial.
#include <string>

#include "manager/experiment/section.h"

namespace attune {

struct ListenAddress {
  std::string listen = "127.0.0.1:0";  // HOST:PORT; the default is for workers on this machine
  std::string advertise;               // HOST:PORT; empty: the same as listen
};

// 0.0.0.0 and ::, on which one can listen, but which nobody can dial.
bool is_any_host(const std::string& host);
// localhost, ::1 and 127.*, which only this machine can dial.
bool is_this_host(const std::string& host);

// Mistakes become findings of the section: no HOST:PORT, or an address that nobody can dial.
ListenAddress read_listen_address(const Section& section);

}  // namespace attune
