; Functions, types and macros with arguments.
(function_definition) @definition
(declaration declarator: (function_declarator)) @definition
(type_definition) @definition
(struct_specifier body: (_)) @definition
(union_specifier body: (_)) @definition
(enum_specifier body: (_)) @definition
(preproc_function_def) @definition
