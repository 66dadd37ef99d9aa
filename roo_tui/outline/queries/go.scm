; Functions, methods, types, and grouped constants and variables.
(function_declaration) @definition
(method_declaration) @definition
(type_declaration) @definition
(const_declaration) @definition
(source_file (var_declaration) @definition)
