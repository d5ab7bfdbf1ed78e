# Writes what lies beside the programs into the folder OUT: what the program MESHWRIGHT says of itself, the units in UNITS,
# and the manifests in MANIFESTS.
function(meshwright_says file)
  execute_process(COMMAND ${MESHWRIGHT} ${ARGN} OUTPUT_FILE ${OUT}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT}/share/bash-completion/completions ${OUT}/share/zsh/site-functions
  ${OUT}/share/fish/vendor_completions.d)
meshwright_says(share/bash-completion/completions/meshwright completion bash)
meshwright_says(share/zsh/site-functions/_meshwright completion zsh)
meshwright_says(share/fish/vendor_completions.d/meshwright.fish completion fish)
execute_process(COMMAND ${MESHWRIGHT} man ${OUT}/share/man/man1 COMMAND_ERROR_IS_FATAL ANY)
file(COPY ${UNITS}/ DESTINATION ${OUT}/lib/systemd/system)
file(COPY ${MANIFESTS}/ DESTINATION ${OUT}/share/meshwright/kubernetes)
