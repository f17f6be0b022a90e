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
      try checkpoints.prepareToWrite(to: journal.database)
      #expect((file.log.size > 0) == isOvertaken)
    }
  }
}
