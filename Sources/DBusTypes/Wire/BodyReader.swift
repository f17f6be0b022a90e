/// Reads a message's values one after another, and decodes only those requested.
///
/// It is valid as long as the bytes: during the call that provides it.
package struct BodyReader {
  private var walker: WireWalker

  /// Reads `bytes`, which libdbus has checked, up to `elementLimit` elements.
  package init(_ bytes: UnsafeRawBufferPointer, elementLimit: Int = .max) {
    walker = WireWalker(bytes, elementLimit: elementLimit)
  }

  /// Reads a string or an object path.
  /// - Throws: `WireError` if the bytes end too early.
  package mutating func text() throws(WireError) -> String {
    String(decoding: try walker.text(TypeCode.string).dropFirst(4).dropLast(), as: UTF8.self)
  }

  /// Reads an int32.
  /// - Throws: `WireError` if the bytes end too early.
  package mutating func int32() throws(WireError) -> Int32 { Int32(truncatingIfNeeded: try walker.number()) }

  /// Reads a boolean.
  /// - Throws: `WireError` if the bytes end too early.
  package mutating func boolean() throws(WireError) -> Bool { try walker.number() != 0 }

  /// Reads a variant's content.
  /// - Throws: `WireError` if the bytes end too early.
  package mutating func variant() throws(WireError) -> MarshalledValue { try MarshalledValue(inVariant: &walker) }

  /// Reads a variant's content, or skips it and returns nil if it takes more than `limit` bytes.
  /// - Throws: `WireError` if the bytes end too early.
  package mutating func variant(limit: Int) throws(WireError) -> MarshalledValue? {
    var whole = walker
    try whole.skipAll("v")
    guard whole.position - walker.position <= limit else {
      walker = whole
      return nil
    }
    return try variant()
  }

  /// Reads the values of the types in `signature`.
  /// - Throws: `WireError` if the bytes end too early.
  package mutating func values(_ signature: String) throws(WireError) -> [MarshalledValue] {
    let codes = Array(signature.utf8)
    var values: [MarshalledValue] = []
    var fault: WireError?
    codes.withUnsafeBytes { codes in
      var index = 0
      do throws(WireError) {
        while index < codes.count { values.append(try MarshalledValue(&walker, codes, &index)) }
      } catch { fault = error }
    }
    if let fault { throw fault }
    return values
  }

  /// Skips a variant.
  /// - Throws: `WireError` if the bytes end too early.
  package mutating func skipVariant() throws(WireError) { try walker.skipAll("v") }

  /// Reads an array of strings, variants or dictionary entries, one element per call of `element`.
  /// - Throws: `WireError` if the bytes end too early.
  /// - Returns: false if there are more than `limit`; the rest is skipped.
  @discardableResult
  package mutating func array(
    ofEntries: Bool = false, limit: Int = .max, _ element: (inout BodyReader) throws(WireError) -> Void
  ) throws(WireError) -> Bool {
    let length = Int(try walker.number())
    try walker.align(ofEntries ? 8 : 1)
    guard length <= walker.source.count - walker.position else { throw .malformed("an array is too long") }
    let end = walker.position + length
    var count = 0
    while walker.position < end {
      guard count < limit else {
        walker.position = end
        return false
      }
      count += 1
      if ofEntries { try walker.align(8) }
      try element(&self)
      try walker.count(1)
    }
    return true
  }
}

extension MarshalledValue {
  /// The texts of an array of strings; nil if the value has another type.
  package var strings: [String]? {
    guard signature == "as" else { return nil }
    return withParts { _, content in
      var reader = BodyReader(content)
      var texts: [String] = []
      // The content of a marshalled value was validated when it was created.
      _ = try? reader.array { element throws(WireError) in texts.append(try element.text()) }
      return texts
    }
  }
}
