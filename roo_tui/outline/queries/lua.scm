; Functions, named or assigned.
(function_declaration) @definition
(assignment_statement (expression_list value: (function_definition))) @definition
(field value: (function_definition)) @definition
