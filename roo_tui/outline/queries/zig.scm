; Functions and containers given a name.
(Decl (FnProto)) @definition
(Decl (VarDecl)) @definition
(TestDecl) @definition
