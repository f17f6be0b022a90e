package import DBus

/// The questions that one program is asked: few at a time, and none for a while after it did not answer.
///
/// What a program owes takes the bus's memory until it leaves, and the bus bounds how much is owed to one connection.
package final class ProgramQuestions {
  /// The most questions under way.
  static let limit = 16
  /// The most that wait: a program that sends many events and answers slowly would have more and more of them.
  static let mostWaiting = 4096

  /// A question that can be asked, or not.
  package struct Question {
    let ask: () -> Void
    let refuse: (DBusError) -> Void

    package init(ask: @escaping () -> Void, refuse: @escaping (DBusError) -> Void) {
      (self.ask, self.refuse) = (ask, refuse)
    }
  }

  /// What came of a question.
  package enum Outcome {
    case answered, late
    /// It is one that some programs never answer.
    case unknown
  }

  private let firstSilence: Duration
  private let longestSilence: Duration
  private var underWay = 0
  private var waiting: [Question] = []
  /// How long it is left alone, nil while it answers.
  package private(set) var silence: Duration?
  private var silentUntil = SuspendingClock.now
  /// Whether something was asked since a question ended.
  private var isProbed = false
  private var wasHeard = false
  private var isAsking = false
  /// Counts the answers.
  package private(set) var answers = 0

  /// The program is first left alone for `firstSilence`, then for twice as long each time, up to `longestSilence`: when it is well
  /// again, nobody is refused for longer.
  package init(firstSilence: Duration = .milliseconds(200), longestSilence: Duration = .seconds(2)) {
    (self.firstSilence, self.longestSilence) = (firstSilence, longestSilence)
  }

  /// Whether it has answered all that it was asked.
  var isIdle: Bool { underWay == 0 && waiting.isEmpty && silence == nil }

  private var isSilent: Bool { silence != nil && SuspendingClock.now < silentUntil }

  /// Asks a question, now or when others are answered, or refuses it if the program is left alone or too many wait for it.
  package func add(_ question: Question) {
    guard !isSilent, waiting.count < Self.mostWaiting else { return question.refuse(.programSilent) }
    waiting.append(question)
    askNext()
  }

  /// The program tells something: it is asked again before its silence is over, but only once until it answers.
  package func heard() {
    guard isSilent, !wasHeard else { return }
    (wasHeard, silentUntil) = (true, SuspendingClock.now)
  }

  private func askNext() {
    // A question that ends while it is asked, since the bus is gone, leaves the next to the loop that asked it.
    guard !isAsking else { return }
    isAsking = true
    defer { isAsking = false }
    // One that did not answer is asked one thing first.
    while underWay < Self.limit, !waiting.isEmpty, silence == nil || !isProbed {
      isProbed = true
      underWay += 1
      waiting.removeFirst().ask()
    }
  }

  /// Refuses what has not been asked yet.
  func refuseAll(_ error: DBusError) {
    let refused = waiting
    waiting = []
    for question in refused { question.refuse(error) }
  }

  /// A question is over.
  package func ended(_ outcome: Outcome) {
    underWay -= 1
    isProbed = false
    switch outcome {
    case .answered: (silence, wasHeard, answers) = (nil, false, answers + 1)
    // What was asked together is late together.
    case .late where !isSilent:
      let next = silence.map { min($0 * 2, longestSilence) } ?? firstSilence
      (silence, silentUntil) = (next, SuspendingClock.now + next)
      refuseAll(.programSilent)
    case .late, .unknown: break
    }
    askNext()
  }
}
