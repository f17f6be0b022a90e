@preconcurrency internal import CJansson

/// A JSON value of a message that is sent.
package indirect enum JSONText: Equatable, Sendable {
  case text(String)
  case integer(Int64)
  /// A number that is finite.
  case real(Double)
  case boolean(Bool)
  case array([JSONText])
  case object([String: JSONText])

  /// The value as JSON, on one line, with the members of objects in order; nil if a number in it is not finite.
  package var bytes: [UInt8]? {
    guard let value = build() else { return nil }
    defer { json_decref(value) }
    let flags = cjansson_line
    let length = json_dumpb(value, nil, 0, flags)
    guard length > 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: length)
    let written = bytes.withUnsafeMutableBytes { buffer in
      buffer.withMemoryRebound(to: CChar.self) { json_dumpb(value, $0.baseAddress, $0.count, flags) }
    }
    return written == length ? bytes : nil
  }

  /// The value as Jansson has it, which the caller releases.
  private func build() -> UnsafeMutablePointer<json_t>? {
    switch self {
    case .text(var text): return text.withUTF8 { Self.string($0) }
    case .integer(let number): return json_integer(number)
    case .real(let number): return json_real(number)
    case .boolean(let flag): return flag ? json_true() : json_false()
    case .array(let elements):
      let array = json_array()
      for element in elements {
        // The array releases what it is given, also if it does not take it.
        guard json_array_append_new(array, element.build()) == 0 else {
          json_decref(array)
          return nil
        }
      }
      return array
    case .object(let members):
      let object = json_object()
      for (key, member) in members {
        guard json_object_set_new(object, key, member.build()) == 0 else {
          json_decref(object)
          return nil
        }
      }
      return object
    }
  }

  private static func string(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<json_t>? {
    // Jansson takes no pointer to nothing for an empty text.
    bytes.isEmpty ? json_string("") : bytes.withMemoryRebound(to: CChar.self) { json_stringn($0.baseAddress, $0.count) }
  }
}
