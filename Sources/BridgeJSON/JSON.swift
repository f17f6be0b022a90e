@preconcurrency internal import CJansson

/// A JSON value of a message that was received; what is not there, or is of another type, is nil.
///
/// Jansson reads it: it bounds depth and checks numbers, is in every Debian, and loads in a fraction of the time and the
/// memory that FoundationEssentials takes.
package struct JSON {
  /// The message, which lives as long as any of its values is in use.
  private final class Document {
    let root: UnsafeMutablePointer<json_t>

    init(_ root: UnsafeMutablePointer<json_t>) { self.root = root }

    deinit { json_decref(root) }
  }

  private let document: Document
  private let value: UnsafeMutablePointer<json_t>

  /// The most values of a message, each of which takes up to a hundred bytes of memory.
  package static let mostValues = 1 << 19

  /// Reads a message.
  /// - Returns: nil if it is not JSON, or has too many values.
  package init?(_ bytes: [UInt8]) {
    // Each value but the first follows one of these.
    let separators = bytes.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: ":") }
    guard separators < Self.mostValues,
      let root = Self.read(bytes) ?? Self.read(Self.repaired(bytes), isReal: true)
    else { return nil }
    document = Document(root)
    value = root
  }

  private init(_ document: Document, _ value: UnsafeMutablePointer<json_t>) {
    self.document = document
    self.value = value
  }

  private static func read(_ bytes: [UInt8], isReal: Bool = false) -> UnsafeMutablePointer<json_t>? {
    bytes.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { cjansson_read($0.baseAddress, $0.count, isReal) }
    }
  }

  /// A message with replacement characters for what is no character: bytes that are not UTF-8, and halves of surrogate pairs,
  /// which JavaScript escapes (RFC 8259, section 8.2).
  private static func repaired(_ bytes: [UInt8]) -> [UInt8] {
    var repaired = Array(String(decoding: bytes, as: UTF8.self).utf8)
    /// The surrogate that is escaped at a place.
    func surrogate(at place: Int) -> UInt16? {
      guard place + 6 <= repaired.count, repaired[place] == UInt8(ascii: "\\"),
        repaired[place + 1] == UInt8(ascii: "u"),
        let unit = UInt16(String(decoding: repaired[(place + 2)..<(place + 6)], as: UTF8.self), radix: 16)
      else { return nil }
      return UTF16.isSurrogate(unit) ? unit : nil
    }
    var place = 0
    while place < repaired.count {
      guard repaired[place] == UInt8(ascii: "\\") else {
        place += 1
        continue
      }
      guard let unit = surrogate(at: place) else {
        // Past what is escaped, which may be a backslash.
        place += 2
        continue
      }
      if UTF16.isLeadSurrogate(unit), let next = surrogate(at: place + 6), UTF16.isTrailSurrogate(next) {
        place += 12
      } else {
        repaired.replaceSubrange((place + 2)..<(place + 6), with: "fffd".utf8)
        place += 6
      }
    }
    return repaired
  }

  /// The member of an object.
  package subscript(_ key: String) -> JSON? { json_object_get(value, key).map { JSON(document, $0) } }

  /// The elements of an array; none if it is not one.
  package var elements: [JSON] {
    (0..<json_array_size(value)).compactMap { index in json_array_get(value, index).map { JSON(document, $0) } }
  }

  package var text: String? {
    guard let start = json_string_value(value) else { return nil }
    let bytes = UnsafeRawBufferPointer(start: start, count: json_string_length(value))
    return String(decoding: bytes, as: UTF8.self)
  }

  package var integer: Int64? {
    value.pointee.type == JSON_INTEGER ? json_integer_value(value) : real.flatMap { Int64(exactly: $0) }
  }

  /// A number that counts or names something.
  package var number: UInt64? { integer.flatMap { UInt64(exactly: $0) } }

  /// The number of a process.
  package var process: UInt32? { integer.flatMap { UInt32(exactly: $0) }.flatMap { $0 > 1 ? $0 : nil } }

  package var isTrue: Bool { value.pointee.type == JSON_TRUE }

  /// True or false.
  package var boolean: Bool? {
    switch value.pointee.type {
    case JSON_TRUE: true
    case JSON_FALSE: false
    default: nil
    }
  }

  /// A number, with a fraction or without.
  package var real: Double? {
    value.pointee.type == JSON_REAL || value.pointee.type == JSON_INTEGER ? json_number_value(value) : nil
  }

  /// The names of an object's members.
  package var keys: [String] {
    var keys: [String] = []
    var iterator = json_object_iter(value)
    while let place = iterator {
      if let key = json_object_iter_key(place) { keys.append(String(cString: key)) }
      iterator = json_object_iter_next(value, place)
    }
    return keys
  }
}
