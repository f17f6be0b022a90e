// Swift's own conversion of a text to a C function's argument allocates, which takes longer than many a function.

/// Calls `body` with `text` as C has it, nil for nil.
func withCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
  guard let text else { return body(nil) }
  return text.withCString(body)
}

/// Calls `body` with two texts as C has them.
func withCStrings<Result>(
  _ first: String?, _ second: String?, _ body: (UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Result
) -> Result {
  withCString(first) { first in withCString(second) { body(first, $0) } }
}

/// Calls `body` with four texts as C has them.
func withCStrings<Result>(
  _ first: String?, _ second: String?, _ third: String?, _ fourth: String?,
  _ body: (UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Result
) -> Result {
  withCStrings(first, second) { first, second in
    withCStrings(third, fourth) { body(first, second, $0, $1) }
  }
}
