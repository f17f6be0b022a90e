internal import CDBus
public import DBusTypes

/// Values as bytes, for keeping: a basic one as its type's code and its content, any other as a message that carries it.
///
/// A message begins with `l` or `B`, which are no types' codes: the D-Bus specification, section "Message Format".
extension Message {
  /// `value` as bytes.
  /// - Throws: `DBusError` as `append` does.
  public static func marshalled(_ value: DBusValue) throws(DBusError) -> [UInt8] {
    if let content = value.basicBytes { return content }
    // A reply has the shortest header of all messages; what it replies to does not matter.
    guard let raw = dbus_message_new(DBUS_MESSAGE_TYPE_METHOD_RETURN) else { throw .noMemory }
    let message = Message(adopting: raw)
    guard dbus_message_set_reply_serial(raw, 1) != 0 else { throw .noMemory }
    try message.append([.variant(value)])
    return try message.marshalled()
  }

  /// The value that `bytes` from `marshalled` are.
  /// - Throws: `DBusError` where they are none.
  public static func demarshalledValue(_ bytes: [UInt8]) throws(DBusError) -> DBusValue {
    if let code = bytes.first, let type = DBusType(basicCode: code) {
      guard let value = DBusValue(type, basicBytes: bytes.dropFirst()) else {
        throw DBusError(.invalidArgs, "\(bytes.count - 1) bytes are no value of the type '\(type)'")
      }
      return value
    }
    let message = try bytes.withUnsafeBufferPointer { bytes throws(DBusError) in
      try Message(demarshalling: bytes)
    }
    guard case .variant(let value)? = try message.arguments().first else {
      throw DBusError(.invalidArgs, "the bytes hold no value")
    }
    return value
  }
}

extension DBusValue {
  /// The type's code and the content, numbers with the lowest byte first, texts with a NUL at their end; nil for a value
  /// that is kept as a message.
  fileprivate var basicBytes: [UInt8]? {
    switch self {
    case .byte(let number): fixed(number)
    case .boolean(let truth): fixed(UInt8(truth ? 1 : 0))
    case .int16(let number): fixed(number)
    case .uint16(let number): fixed(number)
    case .int32(let number): fixed(number)
    case .uint32(let number): fixed(number)
    case .int64(let number): fixed(number)
    case .uint64(let number): fixed(number)
    case .double(let number): fixed(number.bitPattern)
    case .string(let text): text.holdsNUL ? nil : ended(text)
    case .objectPath(let path): ended(path.text)
    case .signature(let signature): ended(signature.text)
    case .unixFD, .array, .structure, .dictionary, .variant: nil
    }
  }

  private func fixed(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { [type.code] + $0 }
  }

  private func ended(_ text: String) -> [UInt8] { [type.code] + text.utf8 + [0] }

  fileprivate init?(_ type: DBusType, basicBytes bytes: ArraySlice<UInt8>) {
    func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
      guard bytes.count == MemoryLayout<Number>.size else { return nil }
      return bytes.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }
    func text() -> String? {
      guard bytes.last == 0, let text = String(validating: bytes.dropLast(), as: UTF8.self) else { return nil }
      return text.holdsNUL ? nil : text
    }
    let value: DBusValue? =
      switch type {
      case .byte: number().map(DBusValue.byte)
      case .boolean: number(UInt8.self).flatMap { $0 > 1 ? nil : .boolean($0 == 1) }
      case .int16: number().map(DBusValue.int16)
      case .uint16: number().map(DBusValue.uint16)
      case .int32: number().map(DBusValue.int32)
      case .uint32: number().map(DBusValue.uint32)
      case .int64: number().map(DBusValue.int64)
      case .uint64: number().map(DBusValue.uint64)
      case .double: number().map { .double(Double(bitPattern: $0)) }
      case .string: text().map(DBusValue.string)
      case .objectPath: text().flatMap { try? ObjectPath($0) }.map(DBusValue.objectPath)
      case .signature: text().flatMap { try? Signature($0) }.map(DBusValue.signature)
      case .unixFD, .array, .structure, .dictionary, .variant: nil
      }
    guard let value else { return nil }
    self = value
  }
}
