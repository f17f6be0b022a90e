package import DBus
package import DBusTypes
package import EventLoop

/// A connection on which programs are asked things that they may never answer: no call waits long.
package final class ProgramBus {
  package typealias Answer = Result<[DBusValue], DBusError>

  /// How long a question may take, and how long a change.
  package static let questionTimeout = Duration.milliseconds(400)
  package static let changeTimeout = Duration.seconds(3)
  /// The most elements of an answer that is read.
  private static let elementLimit = 1 << 16

  package let connection: Connection
  package let loop: EventLoop
  /// When there are so many, those that owe no answer are forgotten: not every bridge is told when a program leaves.
  private static let mostPrograms = 1024
  /// The programs that were asked something.
  private var programs: [BusName: ProgramQuestions] = [:]
  private let peers = PeerConnections()
  /// Whether it was closed: a menu that was read may hold it for longer.
  private var isClosed = false

  /// The longest message that is received; a text that is read as a whole takes less.
  private static let longestMessage = 32 << 20

  package init(_ connection: Connection, on loop: EventLoop) {
    connection.limitMessages(to: Self.longestMessage)
    self.connection = connection
    self.loop = loop
  }

  /// Closes the connection; what is asked from now on fails.
  package func close() {
    isClosed = true
    connection.onMessage = nil
    connection.onDisconnect = nil
    connection.detach()
  }

  // MARK: Calls

  /// Asks a question that takes no arguments.
  package func ask(
    _ element: ElementReference, _ member: String, timeout: Duration = ProgramBus.questionTimeout,
    _ handler: @escaping (Answer) -> Void
  ) {
    call(element, AccessibilityNames.accessible, member, [], timeout: timeout, handler)
  }

  /// Calls a method of an element, and hands over what it answers; `isOptional` if some programs never do.
  package func call(
    _ element: ElementReference, _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue],
    timeout: Duration = ProgramBus.questionTimeout, isOptional: Bool = false,
    _ handler: @escaping (Answer) -> Void
  ) {
    call(
      element.application, element.path, interface, member, arguments, timeout: timeout, isOptional: isOptional, handler
    )
  }

  /// Calls a method of any object, and hands over what it answers.
  package func call(
    _ name: BusName, _ path: ObjectPath, _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue] = [],
    timeout: Duration = ProgramBus.questionTimeout, isOptional: Bool = false,
    _ handler: @escaping (Answer) -> Void
  ) {
    let question = ProgramQuestions.Question(
      ask: { [weak self] in
        guard let self else { return handler(.failure(.busGone)) }
        send(name, path, interface, member, arguments, timeout: timeout, isOptional: isOptional, handler)
      },
      refuse: { handler(.failure($0)) })
    // The registry is no program, and asked little.
    guard name.isUnique else { return question.ask() }
    if programs[name] == nil, programs.count >= Self.mostPrograms { programs = programs.filter { !$0.value.isIdle } }
    let questions = programs[name] ?? ProgramQuestions()
    programs[name] = questions
    questions.add(question)
  }

  /// Runs an action of an element, on a connection to its program alone if there is one.
  package func run(
    _ action: Int32, of element: ElementReference, timeout: Duration, isOptional: Bool = false,
    _ handler: @escaping (Answer) -> Void
  ) {
    let (interface, member, arguments) = (AccessibilityNames.action, "DoAction", [DBusValue.int32(action)])
    peers.find(element.application, on: self) { [self] outcome in
      do throws(DBusError) {
        if case .busy = outcome { return handler(.failure(.programBusy)) }
        guard case .connection(let peer) = outcome else { throw .busGone }
        let message = try OutgoingMessage.methodCall(
          to: nil, path: element.path, interface: interface, member: MemberName(known: member), arguments)
        var isLate = false
        let timer = loop.schedule(after: timeout) { [weak self] in
          isLate = true
          self?.peers.note(peer, to: element.application, isUnanswered: true)
          handler(.failure(.programSilent))
        }
        do throws(DBusError) {
          try peer.call(message, timeout: nil) { [weak self] result in
            guard !isLate else {
              self?.peers.note(peer, to: element.application, isUnanswered: false)
              return
            }
            self?.loop.cancel(timer)
            handler(
              Result { () throws(DBusError) in
                if case .failure(let error) = result, error.name == .disconnected { throw .programLeft }
                if result.isLate { throw .programSilent }
                return try result.get().success().arguments(elementLimit: ProgramBus.elementLimit)
              })
          }
        } catch {
          loop.cancel(timer)
          throw error
        }
      } catch {
        call(element, interface, member, arguments, timeout: timeout, isOptional: isOptional, handler)
      }
    }
  }

  /// Calls a method whose answer tells nothing: it is asked for none, and so owes none.
  package func tell(
    _ name: BusName, _ path: ObjectPath, _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue]
  ) {
    guard
      var message = try? OutgoingMessage.methodCall(
        to: name, path: path, interface: interface, member: MemberName(known: member), arguments)
    else { return }
    message.disableReply()
    _ = try? connection.send(message)
  }

  private func send(
    _ name: BusName, _ path: ObjectPath, _ interface: InterfaceName, _ member: String, _ arguments: [DBusValue],
    timeout: Duration, isOptional: Bool, _ handler: @escaping (Answer) -> Void
  ) {
    do throws(DBusError) {
      guard !isClosed else { throw .busGone }
      let message = try OutgoingMessage.methodCall(
        to: name, path: path, interface: interface, member: MemberName(known: member), arguments)
      try connection.call(message, timeout: timeout) { [weak self] result in
        let reply = try? result.get()
        let hasLeft = reply?.saysThatProgramLeft == true
        let answer = Result { () throws(DBusError) in
          if hasLeft { throw .programLeft }
          if result.isLate { throw .programSilent }
          return try result.get().success().arguments(elementLimit: ProgramBus.elementLimit)
        }
        guard let self else { return handler(answer) }
        let isLate = reply == nil
        connection.writeTogether {
          self.ended(name, isLate ? (isOptional ? .unknown : .late) : .answered)
          if hasLeft { self.forget(name) }
          handler(answer)
        }
      }
    } catch {
      ended(name, .unknown)
      handler(.failure(error))
    }
  }

  private func ended(_ name: BusName, _ outcome: ProgramQuestions.Outcome) {
    guard let questions = programs[name] else { return }
    questions.ended(outcome)
  }

  /// How many answers a program has given.
  package func answers(of name: BusName) -> Int { programs[name]?.answers ?? 0 }

  /// A program tells something, so that it may answer again.
  package func heard(_ name: BusName) { programs[name]?.heard() }

  /// Takes what a program has answered on connections of its own.
  package func takeAnswers(of name: BusName) { for peer in peers[name] { peer.receive() } }

  /// A program has left.
  package func forget(_ name: BusName) {
    peers.forget(name)
    programs.removeValue(forKey: name)?.refuseAll(.programLeft)
  }

  /// Reads one property of an element: never all of them, which kills programs that use Qt.
  package func get(
    _ element: ElementReference, _ interface: InterfaceName, _ property: String,
    timeout: Duration = ProgramBus.questionTimeout, _ handler: @escaping (Result<DBusValue?, DBusError>) -> Void
  ) {
    call(element, .properties, "Get", [.string(interface.text), .string(property)], timeout: timeout) { answer in
      handler(answer.map { $0.first?.variantContent })
    }
  }

  // MARK: Events

  /// Makes programs emit an event, or only `application` if it is given; `done` is called when they have been told.
  package func register(_ event: String, of application: BusName? = nil, _ done: @escaping () -> Void = {}) {
    call(
      AccessibilityNames.registry, AccessibilityNames.registryPath, AccessibilityNames.registryInterface,
      "RegisterEvent", [.string(event), .strings([]), .string(application?.text ?? "")],
      timeout: ProgramBus.changeTimeout
    ) { _ in done() }
  }

  /// Undoes `register`.
  package func deregister(_ event: String) {
    call(
      AccessibilityNames.registry, AccessibilityNames.registryPath, AccessibilityNames.registryInterface,
      "DeregisterEvent", [.string(event)], timeout: ProgramBus.changeTimeout
    ) { _ in }
  }
}

extension Message {
  /// Whether this is the bus's error for a program that has left; clients would take it for an error of their own bus.
  fileprivate var saysThatProgramLeft: Bool {
    guard sender == .bus, let error else { return false }
    return [.serviceUnknown, .nameHasNoOwner, .noReply].contains(error.name)
  }
}

extension DBusError {
  /// The program that was asked has left the bus.
  package static let programLeft = DBusError(.unknownObject, "the program has left the bus")
  /// It did not answer in time, or just before, and is left alone for a while.
  package static let programSilent = DBusError(.timeout, "the program does not answer")

  /// It has a dialog open for each of too many calls, and another would freeze it.
  fileprivate static let programBusy = DBusError(.limitsExceeded, "the program has too many dialogs open")

  /// The accessibility bus was left.
  fileprivate static let busGone = DBusError(.disconnected, "the bus is gone")

  /// Whether no answer came in time: one may come if it is asked for again.
  package var isLate: Bool { name == .timeout || name == .noReply }
}

extension Result where Failure == DBusError {
  /// Whether no answer came in time.
  package var isLate: Bool { if case .failure(let error) = self { error.isLate } else { false } }
}

/// Answers to questions that were asked at once.
package final class Answers {
  private var missing = 1
  private let whenComplete: () -> Void

  package init(_ whenComplete: @escaping () -> Void) { self.whenComplete = whenComplete }

  /// Takes part in the wait until the result is called.
  package func expect<Answer>(_ take: @escaping (Answer) -> Void) -> (Answer) -> Void {
    missing += 1
    return { [self] answer in
      take(answer)
      finish()
    }
  }

  /// No more questions: calls the handler now, or after the last answer.
  package func finish() {
    missing -= 1
    if missing == 0 { whenComplete() }
  }
}
