internal import DBusTypes

/// The header of one message while it is written.
///
/// The D-Bus specification, sections "Message Format" and "Header Fields".
struct MessageHeader: ~Copyable {
  /// What a message is for.
  enum Kind: UInt8 {
    case methodCall = 1
    case methodReturn = 2
    case error = 3
    case signal = 4
  }

  /// A field of the header that is a text, or a number.
  enum Field: UInt8 {
    case path = 1
    case interface = 2
    case member = 3
    case errorName = 4
    case replySerial = 5
    case destination = 6
    case unixFDs = 9
  }

  static let flagsOffset = 2
  static let serialOffset = 8
  static let noReplyFlag: UInt8 = 1
  static let noAutoStartFlag: UInt8 = 2

  private static let signatureField: UInt8 = 8
  private static let fieldsLengthOffset = 12
  private static let fieldsStart = 16
  private static let byteOrder = UInt8(ascii: 1.littleEndian == 1 ? "l" : "B")
  private static let protocolVersion: UInt8 = 1

  private var writer = WireWriter(capacity: 256)

  init(_ kind: Kind, bodySize: Int) {
    writer.append(MessageHeader.byteOrder)
    writer.append(kind.rawValue)
    writer.append(UInt8(0))
    writer.append(MessageHeader.protocolVersion)
    writer.append(UInt32(truncatingIfNeeded: bodySize))
    // The serial number and the length of the fields come later.
    writer.append(UInt64(0))
  }

  private mutating func begin(_ field: UInt8, _ typeCode: Unicode.Scalar) {
    writer.align(8)
    writer.append(field)
    writer.append(signatureOf: typeCode)
  }

  mutating func add(_ field: Field, _ text: String) {
    begin(field.rawValue, "s")
    writer.append(text)
  }

  mutating func add(path: ObjectPath) {
    begin(Field.path.rawValue, "o")
    writer.append(path.text)
  }

  mutating func add(_ field: Field, _ number: UInt32) {
    begin(field.rawValue, "u")
    writer.append(number)
  }

  mutating func add(signature: String) {
    begin(MessageHeader.signatureField, "g")
    writer.append(signature: signature)
  }

  /// The header's bytes up to where the body begins.
  consuming func finish() -> [UInt8] {
    writer.replace(
      at: MessageHeader.fieldsLengthOffset,
      with: UInt32(truncatingIfNeeded: writer.count - MessageHeader.fieldsStart))
    writer.align(8)
    return writer.finish()
  }
}
