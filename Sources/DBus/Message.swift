internal import CDBus
public import DBusTypes

/// One D-Bus message, received or to be sent.
///
/// A message is not safe to share between threads. Names and paths are checked by their types before they come here.
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

  /// The most bytes that the text of an error in a reply has.
  public static let errorTextLimit = 4096

  let raw: OpaquePointer

  /// The bytes of the values that were appended to a message of one's own; 0 for one that was received.
  public internal(set) var bodySize = 0
  var unixFDCount = 0

  /// Takes over one reference to `raw`.
  init(adopting raw: OpaquePointer) { self.raw = raw }

  /// Takes a reference of its own to `raw`.
  init(sharing raw: OpaquePointer) { self.raw = dbus_message_ref(raw) }

  deinit { dbus_message_unref(raw) }

  private static func make(_ raw: OpaquePointer?, _ arguments: [DBusValue]) throws(DBusError) -> Message {
    guard let raw else { throw .noMemory }
    let message = Message(adopting: raw)
    try message.append(arguments)
    return message
  }

  /// The bus closes the connection of who sends a message with the path or the interface that stands for itself.
  private static func refuseLocal(_ path: ObjectPath, _ interface: InterfaceName?) throws(DBusError) {
    for name in [path.text, interface?.text ?? ""] where name == DBUS_PATH_LOCAL || name == DBUS_INTERFACE_LOCAL {
      throw DBusError(.invalidArgs, "'\(name)' is reserved, and no message may carry it")
    }
  }

  /// A method call; without an interface, the peer finds the method by its name alone.
  /// - Throws: `DBusError` as `append` does.
  public static func methodCall(
    to destination: BusName?, path: ObjectPath, interface: InterfaceName?, member: MemberName,
    _ arguments: [DBusValue] = []
  ) throws(DBusError) -> Message {
    try refuseLocal(path, interface)
    let raw = withCStrings(destination?.text, path.text, interface?.text, member.text) {
      dbus_message_new_method_call($0, $1, $2, $3)
    }
    return try make(raw, arguments)
  }

  /// A signal to everyone who has a match for it.
  /// - Throws: `DBusError` as `append` does.
  public static func signal(
    path: ObjectPath, interface: InterfaceName, member: MemberName, _ arguments: [DBusValue]
  ) throws(DBusError) -> Message {
    try refuseLocal(path, interface)
    let raw = withCStrings(path.text, interface.text, member.text, nil) { path, interface, member, _ in
      dbus_message_new_signal(path, interface, member)
    }
    return try make(raw, arguments)
  }

  /// The reply to this method call.
  /// - Throws: `DBusError` as `append` does.
  public func reply(_ arguments: [DBusValue] = []) throws(DBusError) -> Message {
    try checkIsReceived()
    return try Message.make(dbus_message_new_method_return(raw), arguments)
  }

  private func checkIsReceived() throws(DBusError) {
    guard serial != 0 else {
      throw DBusError(.failed, "a message is replied to once it has been received, and this one was not sent yet")
    }
  }

  /// The reply to this method call that says what went wrong.
  ///
  /// NUL in the message is left out, and so is the middle of one of more than `errorTextLimit` bytes: it may quote what
  /// it is about, and no message carries all of that.
  /// - Throws: `DBusError` where libdbus finds no memory.
  public func reply(_ error: DBusError) throws(DBusError) -> Message {
    try checkIsReceived()
    var text = error.message.unicodeScalars
    if error.message.utf8.count > Message.errorTextLimit {
      let part = Message.errorTextLimit / 8
      text = String.UnicodeScalarView(text.prefix(part)) + ["…"] + text.suffix(part)
    }
    text.removeAll { $0 == "\0" }
    return try Message.make(dbus_message_new_error(raw, error.name.text, String(text)), [])
  }
}

extension Message {
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

  /// The number that the message had or will have on its connection; 0 before it is sent.
  public var serial: UInt32 { dbus_message_get_serial(raw) }

  /// The number of the call that this message replies to; 0 for others.
  public var replySerial: UInt32 { dbus_message_get_reply_serial(raw) }

  /// Whether the caller waits for a reply.
  public var wantsReply: Bool { dbus_message_get_no_reply(raw) == 0 }

  /// The types of the message's values, as text.
  public var signatureText: String { String(optionalCString: dbus_message_get_signature(raw)) ?? "" }

  /// The error that an error message carries: its name, and its first argument where that is a text; nil for others.
  public var error: DBusError? {
    guard kind == .error else { return nil }
    let name = String(optionalCString: dbus_message_get_error_name(raw)) ?? ErrorName.failed.text
    var text = ""
    if case .string(let first)? = try? arguments().first { text = first }
    return DBusError(ErrorName(known: name), text)
  }

  /// Whether this is the signal `interface.member`.
  public func isSignal(_ interface: InterfaceName, _ member: MemberName) -> Bool {
    withCStrings(interface.text, member.text) { dbus_message_is_signal(raw, $0, $1) } != 0
  }

  /// Asks the bus not to start anybody for the message's destination.
  public func disableAutoStart() { dbus_message_set_auto_start(raw, 0) }

  /// Tells the receiver that nobody waits for a reply.
  public func disableReply() { dbus_message_set_no_reply(raw, 1) }
}

/// Messages that are passed on: their values are neither decoded nor copied one by one.
extension Message {
  private func copy(_ change: (OpaquePointer) -> dbus_bool_t) throws(DBusError) -> Message {
    guard let raw = dbus_message_copy(raw) else { throw .noMemory }
    let copy = Message(adopting: raw)
    copy.bodySize = bodySize > 0 ? bodySize : measuredBodySize
    guard change(raw) != 0 else { throw .noMemory }
    return copy
  }

  /// The same message, to be sent once more.
  /// - Throws: `DBusError` where libdbus finds no memory.
  public func unsentCopy() throws(DBusError) -> Message { try copy { _ in 1 } }

  /// Whether the message carries no values: then its like is made sooner than a copy is changed.
  private var isEmpty: Bool { dbus_message_get_signature(raw).map { $0.pointee == 0 } ?? true }

  /// This method call, to the object at `path` of `destination`.
  /// - Throws: `DBusError` where libdbus finds no memory.
  public func forwarded(to destination: BusName, path: ObjectPath) throws(DBusError) -> Message {
    if isEmpty, let member {
      let call = try Message.methodCall(to: destination, path: path, interface: interface, member: member)
      call.disableAutoStart()
      if !wantsReply { call.disableReply() }
      return call
    }
    return try copy { raw in
      dbus_message_set_auto_start(raw, 0)
      return withCStrings(destination.text, path.text) {
        dbus_message_set_destination(raw, $0) & dbus_message_set_path(raw, $1)
      }
    }
  }

  /// Whether this message goes to the connection that has sent `other`.
  public func isTo(senderOf other: Message) -> Bool {
    dbus_message_get_sender(other.raw).map { dbus_message_has_destination(raw, $0) != 0 } ?? false
  }

  /// This reply, as one to `call`.
  /// - Throws: `DBusError` where libdbus finds no memory.
  public func forwarded(asReplyTo call: Message) throws(DBusError) -> Message {
    if kind == .methodReturn, isEmpty { return try call.reply() }
    let isToCaller = isTo(senderOf: call)
    return try copy { raw in
      // To change a destination takes longer than the rest.
      guard isToCaller || dbus_message_set_destination(raw, dbus_message_get_sender(call.raw)) != 0 else { return 0 }
      return dbus_message_set_reply_serial(raw, call.serial)
    }
  }

  /// This signal, to everyone and from the object at `path`.
  /// - Throws: `DBusError` where libdbus finds no memory.
  public func emittedAgain(from path: ObjectPath) throws(DBusError) -> Message {
    try copy { raw in
      let isForAll = dbus_message_get_destination(raw) == nil || dbus_message_set_destination(raw, nil) != 0
      return isForAll ? withCString(path.text) { dbus_message_set_path(raw, $0) } : 0
    }
  }
}
