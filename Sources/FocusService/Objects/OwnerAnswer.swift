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
}
