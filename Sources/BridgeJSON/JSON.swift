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
      let root = Self.read(bytes) ?? Self.read(Array(String(decoding: bytes, as: UTF8.self).utf8))
    else { return nil }
    document = Document(root)
    value = root
  }

  private init(_ document: Document, _ value: UnsafeMutablePointer<json_t>) {
    self.document = document
    self.value = value
  }

  private static func read(_ bytes: [UInt8]) -> UnsafeMutablePointer<json_t>? {
    bytes.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) { cjansson_read($0.baseAddress, $0.count) }
    }
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

  package var integer: Int64? { value.pointee.type == JSON_INTEGER ? json_integer_value(value) : nil }

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
