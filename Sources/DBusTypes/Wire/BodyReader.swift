/// Reads a message's values one after another, without decoding what is not asked for.
///
/// It is valid as long as the bytes are: within the call that handed it out.
package struct BodyReader {
  private var walker: WireWalker

  /// Reads `bytes`, which libdbus has checked.
  package init(_ bytes: UnsafeRawBufferPointer) { walker = WireWalker(bytes) }

  /// Reads a string or an object path.
  /// - Throws: `WireError` if the bytes end before.
  package mutating func text() throws(WireError) -> String {
    String(decoding: try walker.text(TypeCode.string).dropFirst(4).dropLast(), as: UTF8.self)
  }

  /// Reads a boolean.
  /// - Throws: `WireError` if the bytes end before.
  package mutating func boolean() throws(WireError) -> Bool { try walker.number() != 0 }

  /// Reads what a variant holds.
  /// - Throws: `WireError` if the bytes end before.
  package mutating func variant() throws(WireError) -> MarshalledValue { try MarshalledValue(inVariant: &walker) }

  /// Passes over a variant.
  /// - Throws: `WireError` if the bytes end before.
  package mutating func skipVariant() throws(WireError) { try walker.skipAll("v") }

  /// Reads an array of strings, variants or dictionary entries, one element with each call of `element`.
  /// - Throws: `WireError`: `tooManyElements` if there are more than `limit`, then `element` is not called for the rest.
  package mutating func array(
    ofEntries: Bool = false, limit: Int = .max, _ element: (inout BodyReader) throws(WireError) -> Void
  ) throws(WireError) {
    let length = Int(try walker.number())
    try walker.align(ofEntries ? 8 : 1)
    guard length <= walker.source.count - walker.position else { throw .malformed("an array is too long") }
    let end = walker.position + length
    var count = 0
    while walker.position < end {
      guard count < limit else { throw .tooManyElements(limit: limit) }
      count += 1
      if ofEntries { try walker.align(8) }
      try element(&self)
    }
  }
}

extension MarshalledValue {
  /// The texts of an array of strings; nil if the value is not one.
  /// - Throws: `WireError.tooManyElements` if there are more than `limit`.
  package func strings(limit: Int) throws(WireError) -> [String]? {
    guard signature == "as" else { return nil }
    var texts: [String] = []
    var fault: WireError?
    withParts { _, content in
      var reader = BodyReader(content)
      do throws(WireError) {
        try reader.array(limit: limit) { element throws(WireError) in texts.append(try element.text()) }
      } catch { fault = error }
    }
    if let fault { throw fault }
    return texts
  }
}
