/// The questions that one program is asked: few at a time, and none for a while after it did not answer.
///
/// What a program owes takes the bus's memory until it leaves, and the bus bounds how much is owed to one connection.
final class ProgramQuestions {
  /// The most questions under way.
  static let limit = 16
  private static let firstSilence = Duration.milliseconds(200)
  private static let longestSilence = Duration.seconds(300)

  /// A question that can be asked, or not.
  struct Question {
    let ask: () -> Void
    let refuse: () -> Void
  }

  /// What came of a question.
  enum Outcome {
    case answered, late
    /// It is one that some programs never answer.
    case unknown
  }

  private var underWay = 0
  private var waiting: [Question] = []
  private var silence: Duration?
  private var silentUntil = SuspendingClock.now
  /// Counts the answers.
  private(set) var answers = 0

  private var isSilent: Bool { silence != nil && SuspendingClock.now < silentUntil }

  /// Asks a question, now or when others are answered, or refuses it if the program is left alone.
  func add(_ question: Question) {
    guard !isSilent else { return question.refuse() }
    waiting.append(question)
    askNext()
  }

  private func askNext() {
    while underWay < Self.limit, !waiting.isEmpty {
      underWay += 1
      waiting.removeFirst().ask()
    }
  }

  /// A question is over.
  func ended(_ outcome: Outcome) {
    underWay -= 1
    switch outcome {
    case .answered: (silence, answers) = (nil, answers + 1)
    // What was asked together is late together.
    case .late where !isSilent:
      let next = min(silence.map { $0 * 2 } ?? Self.firstSilence, Self.longestSilence)
      (silence, silentUntil) = (next, SuspendingClock.now + next)
      let refused = waiting
      waiting = []
      for question in refused { question.refuse() }
    case .late, .unknown: break
    }
    askNext()
  }
}
