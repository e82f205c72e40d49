import './short-tasks';
import '../../src/main/api';
