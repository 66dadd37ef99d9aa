; What C has, and namespaces, classes, concepts and aliases.
(namespace_definition) @definition
(class_specifier body: (_)) @definition
(concept_definition) @definition
(alias_declaration) @definition
(function_definition) @definition
(declaration declarator: (function_declarator)) @definition
(field_declaration declarator: (function_declarator)) @definition
(type_definition) @definition
(struct_specifier body: (_)) @definition
(union_specifier body: (_)) @definition
(enum_specifier body: (_)) @definition
(preproc_function_def) @definition
