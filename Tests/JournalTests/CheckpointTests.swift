import Glibc
import TestSupport
import Testing

@testable import FocusService

@Suite struct CheckpointTests {
  /// What was written meanwhile may not be on the disk: after a loss of power, the log alone has it.
  @Test("The log is emptied after a copy, unless more was written meanwhile", arguments: [false, true])
  func emptying(isOvertaken: Bool) throws {
    try withStateFile { file in
      let journal = try #require(Journal.open(file).journal)
      var checkpoints = Checkpoints()
      checkpoints.wrote(Checkpoints.size, to: file.path)
      if isOvertaken { checkpoints.wrote(Checkpoints.size, to: file.path) }
      let deadline = SuspendingClock.now + DeadlinePassed.patience
      while checkpoints.isUnderWay, SuspendingClock.now < deadline { sched_yield() }
      try checkpoints.prepareToWrite(to: journal.database, at: file.path)
      #expect((file.log.size > 0) == isOvertaken)
    }
  }

  @Test("What is refused while the disk is behind is taken once it is not") func fullLog() throws {
    try withStateFile { file in
      let journal = try #require(Journal.open(file).journal)
      var checkpoints = Checkpoints()
      checkpoints.wrote(Checkpoints.size, to: file.path)
      checkpoints.wrote(1 << 30, to: file.path)
      var refusals = 0
      let deadline = SuspendingClock.now + DeadlinePassed.patience
      while SuspendingClock.now < deadline {
        do {
          try checkpoints.prepareToWrite(to: journal.database, at: file.path)
          break
        } catch {
          refusals += 1
          while checkpoints.isUnderWay, SuspendingClock.now < deadline { sched_yield() }
        }
      }
      #expect(1...2 ~= refusals && file.log.size == 0)
    }
  }
}
