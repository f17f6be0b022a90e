import BridgeSupport
import DBus
import DBusTypes
import EventLoop
import TestSupport
import Testing

/// Which questions a program is asked, and which are refused in its place.
@Suite struct QuestionTests {
  private final class Told {
    var asked: [Int] = []
    var refused: [Int] = []
  }

  private static func questions(_ numbers: ClosedRange<Int>, to program: ProgramQuestions, _ told: Told) {
    for number in numbers {
      program.add(.init(ask: { told.asked.append(number) }, refuse: { _ in told.refused.append(number) }))
    }
  }

  @Test func fewAreAskedAtOnceAndTheOthersInOrder() {
    let (program, told) = (ProgramQuestions(), Told())
    Self.questions(1...20, to: program, told)
    #expect(told.asked == Array(1...16))
    program.ended(.answered)
    program.ended(.unknown)
    #expect(told.asked == Array(1...18))
    #expect(told.refused == [])
    #expect(program.answers == 1)
  }

  /// When the bus is gone, each question ends as it is asked: with one within another, thousands would take the stack.
  @Test func noneIsAskedWithinAnother() {
    let (program, told) = (ProgramQuestions(), Told())
    Self.questions(1...16, to: program, told)
    var (asked, depth, deepest) = (0, 0, 0)
    for _ in 1...1000 {
      let ask = {
        (asked, depth) = (asked + 1, depth + 1)
        deepest = max(deepest, depth)
        program.ended(.unknown)
        depth -= 1
      }
      program.add(.init(ask: ask, refuse: { _ in }))
    }
    program.ended(.answered)
    #expect(asked == 1000 && deepest == 1)
  }

  @Test func noMoreThanSomeWait() {
    let (program, told) = (ProgramQuestions(), Told())
    Self.questions(1...4120, to: program, told)
    #expect(told.refused == Array(4113...4120))
    program.ended(.answered)
    Self.questions(4121...4122, to: program, told)
    #expect(told.refused == Array(4113...4120) + [4122])
  }

  /// One that did not answer is left alone; what waited is not asked either.
  @Test func oneThatIsLateIsLeftAlone() {
    let (program, told) = (ProgramQuestions(firstSilence: .seconds(1000)), Told())
    Self.questions(1...20, to: program, told)
    program.ended(.late)
    #expect(told.refused == Array(17...20))
    Self.questions(21...21, to: program, told)
    #expect(told.refused == Array(17...21))
    program.ended(.answered)
    Self.questions(22...22, to: program, told)
    #expect(told.asked == Array(1...16) + [22])
  }

  @Test func oneThatIsSilentForLongIsSoonAskedOneThing() {
    let program = ProgramQuestions(firstSilence: .nanoseconds(1), longestSilence: .nanoseconds(3))
    let told = Told()
    var silences: [Duration?] = []
    // Each of these silences is over by the next call.
    for number in 1...4 {
      Self.questions(number...number, to: program, told)
      program.ended(.late)
      silences.append(program.silence)
    }
    #expect(silences == [.nanoseconds(1), .nanoseconds(2), .nanoseconds(3), .nanoseconds(3)])
    told.asked = []
    Self.questions(5...7, to: program, told)
    #expect(told.asked == [5])
    program.ended(.answered)
    #expect(told.asked == [5, 6, 7] && told.refused == [])
  }

  @Test func whatWaitsIsRefusedWhenTheProgramLeaves() async throws {
    try await PrivateBus.with { bus in
      let peer = try await GDBusPeer(on: bus)
      let (loop, connection) = (EventLoop(), try Connection(to: .address(bus.address)))
      let programs = ProgramBus(connection, on: loop)
      connection.attach(to: loop)
      let name = try BusName(peer.uniqueName)
      var refused = 0
      for _ in 1...40 {
        programs.call(
          name, ObjectPath(known: "/peer"), InterfaceName(known: "test.Peer"), "Hang", timeout: .seconds(60)
        ) { answer in
          if case .failure(let error) = answer, error.name == .unknownObject { refused += 1 }
        }
      }
      try await peer.kill()
      try loop.turn(until: "all answers") { refused == 40 }
      programs.close()
    }
  }

  /// It is asked again when it tells something, but one that tells and never answers is not asked more and more.
  @Test func oneThatTellsSomethingIsAskedAgainOnce() {
    let (program, told) = (ProgramQuestions(firstSilence: .seconds(1000)), Told())
    Self.questions(1...1, to: program, told)
    program.ended(.late)
    program.heard()
    Self.questions(2...2, to: program, told)
    #expect(told.asked == [1, 2])
    program.ended(.late)
    program.heard()
    Self.questions(3...3, to: program, told)
    #expect(told.refused == [3])
    program.ended(.answered)
    Self.questions(4...4, to: program, told)
    program.ended(.late)
    program.heard()
    Self.questions(5...5, to: program, told)
    #expect(told.asked == [1, 2, 4, 5])
  }
}
