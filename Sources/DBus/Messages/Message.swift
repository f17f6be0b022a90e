internal import CDBus
public import DBusTypes

/// One D-Bus message that was received.
///
/// A message is not safe to share between threads.
public final class Message {
  /// What a message is for.
  public enum Kind: Sendable {
    /// A method call.
    case methodCall
    /// The reply to a method call that went well.
    case methodReturn
    /// The reply to a method call that failed.
    case error
    /// A signal.
    case signal
    /// A kind that a later version of the protocol defines; such messages are ignored.
    case other
  }

  let raw: OpaquePointer

  /// Takes over one reference to `raw`.
  init(adopting raw: OpaquePointer) { self.raw = raw }

  /// Takes a reference of its own to `raw`.
  init(sharing raw: OpaquePointer) { self.raw = dbus_message_ref(raw) }

  deinit { dbus_message_unref(raw) }

  /// What the message is for.
  public var kind: Kind {
    switch dbus_message_get_type(raw) {
    case DBUS_MESSAGE_TYPE_METHOD_CALL: .methodCall
    case DBUS_MESSAGE_TYPE_METHOD_RETURN: .methodReturn
    case DBUS_MESSAGE_TYPE_ERROR: .error
    case DBUS_MESSAGE_TYPE_SIGNAL: .signal
    default: .other
    }
  }

  /// The object that is called or that emits.
  public var path: ObjectPath? { String(optionalCString: dbus_message_get_path(raw)).map(ObjectPath.init(known:)) }

  /// The interface that is called or that emits.
  public var interface: InterfaceName? {
    String(optionalCString: dbus_message_get_interface(raw)).map(InterfaceName.init(known:))
  }

  /// The method or signal.
  public var member: MemberName? {
    String(optionalCString: dbus_message_get_member(raw)).map(MemberName.init(known:))
  }

  /// The unique name of the connection that sent the message, as the bus vouches for it; nil on a direct connection.
  public var sender: BusName? { String(optionalCString: dbus_message_get_sender(raw)).map(BusName.init(known:)) }

  /// The number that the message had on its sender's connection.
  public var serial: UInt32 { dbus_message_get_serial(raw) }

  /// The number of the call that this message replies to; 0 for others.
  public var replySerial: UInt32 { dbus_message_get_reply_serial(raw) }

  /// Whether the caller waits for a reply.
  public var wantsReply: Bool { dbus_message_get_no_reply(raw) == 0 }

  /// The types of the message's values, as text.
  public var signatureText: String { String(optionalCString: dbus_message_get_signature(raw)) ?? "" }

  /// The error that an error message carries: its name, and its first argument if that is a text; nil for others.
  public var error: DBusError? {
    guard kind == .error else { return nil }
    let name = String(optionalCString: dbus_message_get_error_name(raw)) ?? ErrorName.failed.text
    // Of what else an error carries, nothing is read.
    let text = signatureText.utf8.first == UInt8(ascii: "s") ? try? withBody { Message.firstText($0) } : nil
    return DBusError(ErrorName(known: name), text ?? "", origin: sender == .bus ? .bus : .peer)
  }

  private static func firstText(_ bytes: UnsafeRawBufferPointer) -> String? {
    var reader = BodyReader(bytes)
    return try? reader.text()
  }

  /// Whether this is the signal `interface.member`.
  public func isSignal(_ interface: InterfaceName, _ member: MemberName) -> Bool {
    interface.text.withCString { interface in
      member.text.withCString { dbus_message_is_signal(raw, interface, $0) }
    } != 0
  }
}

/// Replies.
extension Message {
  /// The reply to this method call.
  /// - Throws: `DBusError` as `MessageBody.init` does.
  public func reply(_ arguments: [DBusValue] = []) throws(DBusError) -> OutgoingMessage {
    ReplyAddress(of: self).reply(try MessageBody(arguments))
  }

  /// The reply to this method call that says what went wrong.
  public func reply(_ error: DBusError) -> OutgoingMessage { ReplyAddress(of: self).reply(error) }
}

/// What of a method call is needed to reply to it.
public struct ReplyAddress: Sendable {
  /// The most bytes that the text of an error has.
  public static let errorTextLimit = 4096

  /// The unique name of the caller; nil on a direct connection.
  public let caller: BusName?
  /// The number of the call.
  public let serial: UInt32
  /// Whether the caller waits for a reply.
  public let wantsReply: Bool

  /// The address of whoever sent `call`.
  public init(of call: Message) {
    caller = call.sender
    serial = call.serial
    wantsReply = call.wantsReply
  }

  /// The reply that carries `body`.
  public func reply(_ body: MessageBody) -> OutgoingMessage {
    OutgoingMessage(.methodReturn, destination: caller, body) { $0.add(.replySerial, serial) }
  }

  /// The reply that says what went wrong.
  ///
  /// NUL in the message is left out, and so is the middle of one of more than `errorTextLimit` bytes: it may quote what
  /// it is about, and no message carries all of that.
  public func reply(_ error: DBusError) -> OutgoingMessage {
    var text = error.message.unicodeScalars
    if error.message.utf8.count > ReplyAddress.errorTextLimit {
      let part = ReplyAddress.errorTextLimit / 8
      text = String.UnicodeScalarView(text.prefix(part)) + ["…"] + text.suffix(part)
    }
    text.removeAll { $0 == "\0" }
    let body = (try? MessageBody([.string(String(text))])) ?? .empty
    return OutgoingMessage(.error, destination: caller, body) { header in
      header.add(.errorName, error.name.text)
      header.add(.replySerial, serial)
    }
  }
}
