; Types (extensions and actors too), protocols, functions and initialisers.
(class_declaration) @definition
(protocol_declaration) @definition
(function_declaration) @definition
(protocol_function_declaration) @definition
(init_declaration) @definition
(deinit_declaration) @definition
(subscript_declaration) @definition
