internal import CDBus
public import DBusTypes

/// Messages that are passed on: a new header, and the body as it came.
extension Message {
  /// The most bytes of a body that is copied out of libdbus to be sent with others; a larger one stays with libdbus.
  private static let copiedSize = 64 << 10

  /// The message with another header: from `make` if the body can be copied, else a copy of libdbus's, changed by `change`.
  private func passedOn(
    to destination: BusName?, _ make: (MessageBody) -> OutgoingMessage,
    _ change: (OpaquePointer) -> dbus_bool_t
  ) throws(DBusError) -> OutgoingMessage {
    let size = measuredBodySize
    if size <= Message.copiedSize, dbus_message_contains_unix_fds(raw) == 0 {
      return make(try body)
    }
    guard let copy = dbus_message_copy(raw) else { throw .noMemory }
    let message = LibraryMessage(adopting: copy, bodySize: size)
    guard change(copy) != 0 else { throw .noMemory }
    return OutgoingMessage(message, to: destination)
  }

  /// The arguments as they came, without descriptors.
  /// - Throws: `DBusError` if libdbus cannot allocate memory.
  public var body: MessageBody {
    get throws(DBusError) {
      let signature = signatureText
      return try withBody { MessageBody(signature, received: $0) }
    }
  }

  /// This call of a method of `interface`, to the object at `path` of `destination`, for which no service is started.
  /// - Throws: `DBusError` if libdbus cannot allocate memory.
  public func forwarded(
    to destination: BusName, path: ObjectPath, interface: InterfaceName
  ) throws(DBusError) -> OutgoingMessage {
    let (member, wantsReply) = (member, wantsReply)
    return try passedOn(to: destination) { body in
      var call = OutgoingMessage(.methodCall, destination: destination, body) { header in
        header.add(path: path)
        header.add(.interface, interface.text)
        if let member { header.add(.member, member.text) }
      }
      call.disableAutoStart()
      if !wantsReply { call.disableReply() }
      return call
    } _: { copy in
      dbus_message_set_auto_start(copy, 0)
      return destination.text.withCString { dbus_message_set_destination(copy, $0) }
        & path.text.withCString { dbus_message_set_path(copy, $0) }
        & interface.text.withCString { dbus_message_set_interface(copy, $0) }
    }
  }

  /// This reply, as one to the call at `address`.
  /// - Throws: `DBusError` if libdbus cannot allocate memory.
  public func forwarded(asReplyTo address: ReplyAddress) throws(DBusError) -> OutgoingMessage {
    let errorName = kind == .error ? String(optionalCString: dbus_message_get_error_name(raw)) : nil
    return try passedOn(to: address.caller) { body in
      OutgoingMessage(errorName == nil ? .methodReturn : .error, destination: address.caller, body) { header in
        if let errorName { header.add(.errorName, errorName) }
        header.add(.replySerial, address.serial)
      }
    } _: { copy in
      let isAddressed = address.caller.map { $0.text.withCString { dbus_message_set_destination(copy, $0) } } ?? 1
      return isAddressed & dbus_message_set_reply_serial(copy, address.serial)
    }
  }

  /// This signal, to everyone and from the object at `path`.
  /// - Throws: `DBusError` if libdbus cannot allocate memory.
  public func emittedAgain(from path: ObjectPath) throws(DBusError) -> OutgoingMessage {
    let (interface, member) = (interface, member)
    return try passedOn(to: nil) { body in
      OutgoingMessage(.signal, destination: nil, body) { header in
        header.add(path: path)
        if let interface { header.add(.interface, interface.text) }
        if let member { header.add(.member, member.text) }
      }
    } _: { copy in
      dbus_message_set_destination(copy, nil) & path.text.withCString { dbus_message_set_path(copy, $0) }
    }
  }
}
