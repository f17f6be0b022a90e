internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// An error that an owner replied, which is passed on as it is.
///
/// Errors have to be sendable, and messages are not: this one stays with the thread of the loop, as they do.
struct OwnerRefusal: Error, @unchecked Sendable {
  let reply: Message
}

/// Limits on what is read from owners' answers; the excess is ignored.
enum OwnerAnswer {
  /// The most elements: twice what an owner may have, so that what does not fit costs little.
  static let elementLimit = 2 * Limits.perOwner.elements
  /// The most bytes of one variant: those of a value, and of the longest signature before it.
  static let valueLimit = Limits.value.bytes + 264
  /// Why a larger one is not taken.
  static let tooLarge = "its value takes more than \(Limits.value.bytes) bytes"
}

extension Result<Message, DBusError> {
  /// What the owner replied.
  /// - Throws: `OwnerRefusal`, or `DBusError` for what prevented a reply.
  @discardableResult
  func accepted() throws -> Message {
    let reply = try get()
    guard reply.kind != .error else { throw OwnerRefusal(reply: reply) }
    return reply
  }

  /// What the owner replied to `Get` of `key`.
  /// - Throws: `OwnerRefusal`, or `DBusError` for what prevented a reply, or a reply that holds no value.
  func valueNow(of key: Key) throws -> FetchedValue {
    let reply = try get()
    if let error = reply.error, error.name == .unknownProperty { return .nothing }
    guard reply.kind != .error else { throw OwnerRefusal(reply: reply) }
    guard reply.signatureText == "v" else {
      throw DBusError(Focus1.typeMismatch, "the owner of \(key) replied to Get without a value")
    }
    return try reply.withBody { bytes throws(DBusError) in
      var reader = BodyReader(bytes)
      guard (try? reply.checkLimits(bytes)) != nil, let value = try? reader.variant(limit: OwnerAnswer.valueLimit)
      else { return .tooLarge }
      return .value(value)
    }
  }
}

/// A value that an owner was asked for.
enum FetchedValue {
  case value(MarshalledValue)
  /// The owner says that it is nil.
  case nothing
  /// The value is past a limit, and counts as nil.
  case tooLarge
}
