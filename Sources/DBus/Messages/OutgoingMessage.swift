internal import CDBus
public import DBusTypes

/// A message for sending: a header of its own, and a body that others may share.
///
/// The D-Bus specification, section "Message Format". Names and paths are checked by their types before they come here.
public struct OutgoingMessage {
  enum Content {
    /// The header up to where the body begins, its serial number left open, and the body.
    case marshalled(header: [UInt8], MessageBody)
    /// A message that libdbus holds: one that is passed on, is large, or carries descriptors that came with it.
    case library(LibraryMessage)
  }

  private(set) var content: Content
  /// Whom it goes to, or nil for a signal to everyone.
  public let destination: BusName?

  init(_ library: LibraryMessage, to destination: BusName?) {
    content = .library(library)
    self.destination = destination
  }

  /// A message that is already marshalled; only its serial number is set when it is sent.
  package init(marshalled bytes: [UInt8]) {
    content = .marshalled(header: bytes, .empty)
    destination = nil
  }

  /// The bytes of the values that it carries.
  public var bodySize: Int {
    switch content {
    case .marshalled(_, let body): body.bytes.count
    case .library(let message): message.bodySize
    }
  }

  /// A method call; without an interface, the peer finds the method by its name alone.
  /// - Throws: `DBusError` as `MessageBody.init` does; `InvalidArgs` for a path or interface that stands for libdbus itself.
  public static func methodCall(
    to destination: BusName?, path: ObjectPath, interface: InterfaceName?, member: MemberName,
    _ arguments: [DBusValue] = []
  ) throws(DBusError) -> OutgoingMessage {
    try methodCall(to: destination, path: path, interface: interface, member: member, body: MessageBody(arguments))
  }

  /// A method call that carries `body`.
  /// - Throws: `DBusError.invalidArgs` for a path or interface that stands for libdbus itself.
  public static func methodCall(
    to destination: BusName?, path: ObjectPath, interface: InterfaceName?, member: MemberName, body: MessageBody
  ) throws(DBusError) -> OutgoingMessage {
    try refuseLocal(path, interface)
    return OutgoingMessage(.methodCall, destination: destination, body) { header in
      header.add(path: path)
      if let interface { header.add(.interface, interface.text) }
      header.add(.member, member.text)
    }
  }

  /// A signal to `destination`; nil: to everyone who has a match for it.
  /// - Throws: `DBusError` as `MessageBody.init` does; `InvalidArgs` for a path or interface that stands for libdbus itself.
  public static func signal(
    to destination: BusName? = nil, path: ObjectPath, interface: InterfaceName, member: MemberName,
    _ arguments: [DBusValue]
  ) throws(DBusError) -> OutgoingMessage {
    try signal(to: destination, path: path, interface: interface, member: member, body: MessageBody(arguments))
  }

  /// A signal to `destination` that carries `body`; nil: to everyone who has a match for it.
  /// - Throws: `DBusError.invalidArgs` for a path or interface that stands for libdbus itself.
  public static func signal(
    to destination: BusName? = nil, path: ObjectPath, interface: InterfaceName, member: MemberName, body: MessageBody
  ) throws(DBusError) -> OutgoingMessage {
    try refuseLocal(path, interface)
    return OutgoingMessage(.signal, destination: destination, body) { header in
      header.add(path: path)
      header.add(.interface, interface.text)
      header.add(.member, member.text)
    }
  }

  /// The bus closes the connection of who sends a message with the path or the interface that stands for itself.
  static func refuseLocal(_ path: ObjectPath, _ interface: InterfaceName?) throws(DBusError) {
    guard path.text == DBUS_PATH_LOCAL || interface?.text == DBUS_INTERFACE_LOCAL else { return }
    let name = path.text == DBUS_PATH_LOCAL ? DBUS_PATH_LOCAL : DBUS_INTERFACE_LOCAL
    throw DBusError(.invalidArgs, "'\(name)' is reserved and not allowed in a message")
  }

  init(
    _ kind: MessageHeader.Kind, destination: BusName?, _ body: MessageBody, _ fields: (inout MessageHeader) -> Void
  ) {
    var header = MessageHeader(kind, bodySize: body.bytes.count)
    fields(&header)
    if let destination { header.add(.destination, destination.text) }
    if !body.signature.isEmpty { header.add(signature: body.signature) }
    if !body.descriptors.isEmpty { header.add(.unixFDs, UInt32(truncatingIfNeeded: body.descriptors.count)) }
    content = .marshalled(header: header.finish(), body)
    self.destination = destination
  }

  private mutating func set(_ flag: UInt8) {
    switch content {
    case .marshalled(var header, let body):
      header[MessageHeader.flagsOffset] |= flag
      content = .marshalled(header: header, body)
    case .library(let message): message.set(flag)
    }
  }

  /// Asks the bus not to start anybody for the message's destination.
  public mutating func disableAutoStart() { set(MessageHeader.noAutoStartFlag) }

  /// Sets the flag for a call whose reply is not awaited.
  public mutating func disableReply() { set(MessageHeader.noReplyFlag) }

  /// The message as its receiver reads it.
  /// - Throws: `DBusError` if it is no valid message, which would be a fault here.
  package func received() throws(DBusError) -> Message {
    try marshalled().withUnsafeBufferPointer { bytes throws(DBusError) in try Message(demarshalling: bytes) }
  }

  /// The message with its serial number, as it is sent.
  package func marshalled(serial: UInt32 = 1) throws(DBusError) -> [UInt8] {
    switch content {
    case .marshalled(let header, let body):
      var writer = WireWriter(capacity: header.count + body.bytes.count)
      writer.append(raw: header)
      writer.replace(at: MessageHeader.serialOffset, with: serial)
      writer.append(raw: body.bytes)
      return writer.finish()
    case .library(let message): return try message.marshalled(serial: serial)
    }
  }
}
