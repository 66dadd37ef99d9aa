; Namespaces with a body, types, functions and methods.
(namespace_definition body: (_)) @definition
(class_declaration) @definition
(interface_declaration) @definition
(trait_declaration) @definition
(enum_declaration) @definition
(function_definition) @definition
(method_declaration) @definition
