// The part of marked that the page uses. This file is waybill's; the others are those of the package.
export { _Lexer as Lexer } from "./src/Lexer.ts";
export { _Tokenizer as Tokenizer } from "./src/Tokenizer.ts";
