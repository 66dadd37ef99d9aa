; Modules, protocols, functions, macros and tests; all of them are calls in this language.
(call
  target: (identifier) @call
  (#any-of? @call "defmodule" "defprotocol" "defimpl" "def" "defp" "defmacro" "defmacrop" "defguard" "describe" "test")
) @definition
