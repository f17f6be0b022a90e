internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel
internal import ProgramSupport

/// The reply to one method call, given now or later, once.
final class PendingReply {
  // Of the call itself nothing is kept: it may be large, and an owner may take its time.
  private let address: ReplyAddress
  private let member: MemberName?
  private weak var service: FocusService?
  /// Whether the reply shows values, which must not be older than those that signals before it tell.
  var showsValues = false
  /// What is replied of an owner's results.
  var results = Results.all
  /// What an owner is asked for, to name it if that owner does not answer.
  var asked: (key: Key?, field: FieldID)?

  enum Results {
    case all
    /// All, as variants: `Bindings.Invoke`.
    case variants
    /// Nothing: `Field.Focus`.
    case none
  }

  init(to call: Message, _ service: FocusService) {
    address = ReplyAddress(of: call)
    member = call.member
    self.service = service
  }

  /// Whether the caller waits for it.
  var isWanted: Bool { address.wantsReply }

  /// Replies with the method's results.
  func succeed(_ results: MessageBody = .empty) {
    guard address.wantsReply else { return }
    service?.post(reply: address.reply(results), of: self)
  }

  /// Replies with an error.
  func fail(_ error: any Error) {
    if let refusal = error as? OwnerRefusal { return forward(refusal.reply) }
    var error = DBusError(any: error)
    if let asked, [.timeout, Focus1.ownerGone].contains(error.name) {
      let subject = asked.key.map { "\($0) of " } ?? ""
      error = DBusError(error.name, "\(subject)the field '\(asked.field)': \(error.message)")
    }
    service?.log.debug("\(address.caller?.text ?? "?") \(member?.text ?? "?"): \(error.name)")
    guard address.wantsReply else { return }
    showsValues = false
    service?.post(reply: address.reply(error), of: self)
  }

  /// Replies with an error that tells nothing of the state, without waiting for the turn's end.
  func refuseAtOnce(_ error: DBusError) {
    if address.wantsReply { _ = try? service?.connection.send(address.reply(error)) }
  }

  /// Replies with what an owner replied: an error as it was.
  func forward(_ reply: Message) {
    guard address.wantsReply else { return }
    do {
      switch results {
      case .variants where reply.kind != .error: succeed(try reply.asVariants())
      case .none where reply.kind != .error: succeed()
      default: service?.post(reply: try reply.forwarded(asReplyTo: address), of: self)
      }
    } catch {
      fail(error)
    }
  }

  /// Replies with what `body` returns or throws; where it returns nil, the reply is given later.
  /// - Returns: whether the reply is given.
  @discardableResult
  func answer(_ body: () throws -> MessageBody?) -> Bool {
    do {
      guard let results = try body() else { return false }
      succeed(results)
    } catch {
      fail(error)
    }
    return true
  }
}

extension Message {
  /// The values as variants in an array, whatever their size: what was carried out is not refused.
  /// - Throws: `DBusError.limitsExceeded` if no message carries them so, or past the limits of a call if descriptors are
  ///   among them.
  fileprivate func asVariants() throws(DBusError) -> MessageBody {
    guard descriptors.isEmpty else { return try MessageBody([.variants(limitedArguments())]) }
    let values = try withBody { bytes throws(DBusError) in
      var reader = BodyReader(bytes)
      do throws(WireError) { return try reader.values(signatureText) } catch { throw DBusError(any: error) }
    }
    // The array and the variant are around each.
    guard values.allSatisfy({ $0.measure.depth + 2 <= ProtocolLimits.sendableDepth }) else {
      throw DBusError(.limitsExceeded, "the results are nested too deeply to be variants in an array")
    }
    var writer = WireWriter()
    writer.array(alignment: 1) { array in
      for value in values { array.append(variant: value) }
    }
    return try MessageBody("av", writer)
  }
}

extension DBusError {
  /// The error as callers see it.
  init(_ error: ModelError) {
    let name: ErrorName =
      switch error {
      case .notFocused, .commandNotFocused: Focus1.notFocused
      case .noSuchField: Focus1.noSuchField
      case .fieldExists: Focus1.fieldExists
      case .typeMismatch, .vocabulary: Focus1.typeMismatch
      case .noSuchElement: Focus1.noSuchElement
      case .conflict: Focus1.conflict
      case .disabled: Focus1.disabled
      case .unknownProperty: .unknownProperty
      case .unknownCommand: .unknownMethod
      case .readOnly: .propertyReadOnly
      case .accessDenied: .accessDenied
      case .invalid: .invalidArgs
      case .limitExceeded: .limitsExceeded
      }
    self.init(name, error.description)
  }

  /// Whatever a handler threw, as callers see it.
  init(any error: any Error) {
    switch error {
    case let error as DBusError: self = error
    case let error as ModelError: self.init(error)
    case let error as SyntaxError: self.init(error)
    case let error as WireError: self.init(.invalidArgs, "\(error)")
    case let error as TypeMismatch: self.init(.invalidArgs, error.description)
    default: self.init(.failed, "\(error)")
    }
  }
}
