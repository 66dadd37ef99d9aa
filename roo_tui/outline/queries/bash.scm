; Functions.
(function_definition) @definition
