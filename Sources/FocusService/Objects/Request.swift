internal import DBus
internal import DBusTypes
internal import EventLoop
internal import FocusContract
internal import FocusModel

/// A write to a bound binding.
final class BoundWrite {
  /// What the reply shows.
  enum Answer {
    /// Nothing: `Properties.Set`.
    case nothing
    /// What the binding holds afterwards: `Bindings.Write`.
    case reading
  }

  let value: MarshalledValue
  let path: BindingPath
  let condition: WriteCondition
  /// Where the client has written.
  let place: Place
  /// The field whose binding it is.
  let field: FieldID
  let answer: Answer
  /// The whole value that the owner was asked to take.
  var asked: MarshalledValue?
  /// The binding's revision when the owner was asked.
  var revisionBefore: UInt64?
  /// What the owner has told of the key since it was asked; nil if nothing.
  var told: MarshalledValue?

  init(
    _ value: MarshalledValue, to path: BindingPath, at place: Place, of field: FieldID,
    if condition: WriteCondition, _ answer: Answer
  ) {
    (self.value, self.path, self.place, self.field) = (value, path, place, field)
    (self.condition, self.answer) = (condition, answer)
  }
}

/// What a client wants of an owner's object, from its arrival to its end.
final class Request {
  enum Work {
    case write(BoundWrite)
    /// A call that is passed on.
    case command(OutgoingMessage)
    /// A look at what the field's object has now.
    case examination(FieldID, ObjectChoice)
  }

  enum Stage {
    case waiting
    /// The owner is asked for what the write depends on.
    case fetching
    /// The owner has been asked to do it.
    case sent
    case ended
  }

  let object: OwnedObject
  let client: BusName
  let reply: PendingReply
  let work: Work
  let deadline = SuspendingClock.now + OwnerCalls.timeout
  /// What it takes of the owner's allowance until it ends.
  var load: Load
  var stage = Stage.waiting
  /// Ends the request in time if it waits behind others.
  var timer: TimerID?

  init(_ work: Work, of object: OwnedObject, for client: BusName, _ reply: PendingReply, _ load: Load) {
    (self.work, self.object, self.client, self.reply, self.load) = (work, object, client, reply, load)
  }

  /// Whether nothing of it is left to be sent that later calls of the client must not overtake.
  var isSent: Bool { stage == .sent || stage == .ended }

  /// Whether later calls of the client wait for it to be sent.
  var isOrdered: Bool {
    if case .examination = work { false } else { true }
  }

  /// How long the owner may still take.
  var timeLeft: Duration { max(.milliseconds(1), deadline - SuspendingClock.now) }
}
