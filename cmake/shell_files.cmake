# Man pages and completion scripts, printed by the programs themselves, where shells and man look.
set(shell_files_dir ${CMAKE_BINARY_DIR}/shell_files)
file(MAKE_DIRECTORY ${shell_files_dir})
set(shell_files "")

# printed(FILE PROGRAM arguments...): FILE is what the program prints.
function(printed file program)
  add_custom_command(OUTPUT ${shell_files_dir}/${file}
                     COMMAND ${program} ${ARGN} > ${shell_files_dir}/${file}
                     DEPENDS ${program} COMMENT "Printing ${file}")
  set(shell_files ${shell_files} ${shell_files_dir}/${file} PARENT_SCOPE)
endfunction()

printed(attune.1 attune man)
printed(attuned.1 attuned --man)
if(ATTUNE_KATIB)
  printed(attune-katib.1 attune-katib --man)
endif()
printed(attune attune completion bash)
printed(_attune attune completion zsh)
printed(attune.fish attune completion fish)
add_custom_target(shell_files ALL DEPENDS ${shell_files})

install(FILES ${shell_files_dir}/attune.1 ${shell_files_dir}/attuned.1
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
if(ATTUNE_KATIB)
  install(FILES ${shell_files_dir}/attune-katib.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
endif()
install(DIRECTORY share/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT runtime)
install(FILES ${shell_files_dir}/attune DESTINATION share/bash-completion/completions
        COMPONENT runtime)
install(FILES ${shell_files_dir}/_attune DESTINATION share/zsh/site-functions COMPONENT runtime)
install(FILES ${shell_files_dir}/attune.fish DESTINATION share/fish/vendor_completions.d
        COMPONENT runtime)
